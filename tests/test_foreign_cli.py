"""The commands, as a user runs them: import, run, grade patches made elsewhere, export, and grade the export again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.suites.foreign.atif import Trajectory
from tests.cli_rig import trialbox
from tests.foreign_rig import FAIL, ID, KETTLE, OLD_TESTS, changed, classic, image_with, make_project, save_rows
from tests.test_cli_run import left_behind

pytestmark = pytest.mark.engine


def test_from_rows_to_a_card_and_out_again(engine: Engine, images: dict[str, BuiltImage], tmp_path: Path) -> None:
    home, suite = tmp_path / "state", str(tmp_path / "kettles")
    project = make_project(tmp_path / "repos")
    other = "acme__kettle-8"
    source = save_rows(
        tmp_path / "rows.jsonl", classic(project), classic(project, instance_id=other, FAIL_TO_PASS=FAIL)
    )
    brought = trialbox(home, "suite", "import", "swe-bench", str(source), "--output", suite,
                       "--repos", str(project.repos), "--json")  # fmt: skip
    assert brought.code == 0, brought.err
    assert [task["trust"] for task in brought.json["tasks"]] == ["in_tree", "in_tree"]
    ran = trialbox(home, "run", suite, "--solver", "reference,noop", "--limit", "1", "--json")
    assert ran.code == 0, ran.err
    assert {name: row["solved"] for name, row in ran.json["solvers"].items()} == {"reference": 1, "noop": 0}

    wrong = changed(project.repos / "acme__kettle", {"kettle/__init__.py": "def boil(degrees):\n    return True\n"})
    stale = project.gold.replace("degrees >= 99", "degrees >= 98")
    rows = [
        {"instance_id": ID, "model_name_or_path": "Acme/Model 1", "model_patch": project.gold},
        {"instance_id": other, "model_name_or_path": "Acme/Model 1", "model_patch": stale},
        {"instance_id": ID, "model_name_or_path": "second", "model_patch": wrong},
        {"instance_id": other, "model_name_or_path": "second", "model_patch": ""},
        {"instance_id": ID, "model_name_or_path": "third", "model_patch": project.gold},
        {"instance_id": "none__such-1", "model_name_or_path": "third", "model_patch": project.gold},
    ]
    predictions = save_rows(tmp_path / "preds.jsonl", *rows)
    graded = trialbox(
        home, "grade", suite, "--predictions", str(predictions), "--json", "--out", str(tmp_path / "c.json")
    )
    assert graded.code == 0, graded.err
    assert graded.json["not_in_suite"] == ["none__such-1"]
    card = json.loads((tmp_path / "c.json").read_text())
    outcomes = {(c["cell"]["solver"], c["cell"]["task"][-1]): (c["outcome"], c["kind"]) for c in card["core"]["cells"]}
    assert outcomes == {
        ("acme-model-1", "7"): ("solved", ""),
        ("acme-model-1", "8"): ("failed", "apply"),
        ("second", "7"): ("failed", ""),
        ("second", "8"): ("extract_failed", "empty"),
        ("third", "7"): ("solved", ""),
        ("third", "8"): ("unavailable", "no_prediction"),
    }
    assert card["stamp"]["run"]["execution_modes"] == ["foreign_patch"]
    assert {one["mode"] for one in card["measured"]["cells"]} == {"foreign_patch"}
    for one in card["measured"]["cells"]:
        assert (one["wall_us"], one["energy"], one["use"]) == (None, None, None)
    for row in card["measured"]["solvers"].values():
        assert row["energy"]["total_uj"] is None
        assert row["wall_median_us"] is None
    assert any("made elsewhere" in line for line in card["stamp"]["limits"])
    assert trialbox(home, "card", "verify", card["id"]).code == 0
    assert trialbox(home, "run", "--resume", graded.json["run"]).line.endswith(
        "`trialbox grade` again, which begins anew"
    )

    out = trialbox(home, "suite", "export", ran.json["run"], "--to", "swe-bench", "--output", str(tmp_path / "out"))
    assert out.code == 0, out.err
    again = trialbox(home, "grade", suite, "--predictions", str(tmp_path / "out" / "predictions.jsonl"), "--json")
    assert {name: row["solved"] for name, row in again.json["solvers"].items()} == {"reference": 1, "noop": 0}
    made = trialbox(
        home, "suite", "export", ran.json["run"], "--to", "atif", "--output", str(tmp_path / "atif"), "--json"
    )
    assert sorted(made.json["files"]) == ["noop.acme-kettle-7.1.json", "reference.acme-kettle-7.1.json"]
    for name in made.json["files"]:
        told = Trajectory.model_validate_json((tmp_path / "atif" / name).read_text())
        assert told.steps[0].message == classic(project)["problem_statement"]
        assert told.final_metrics is not None
    assert left_behind(engine, home) == []


def test_a_run_in_an_image_of_the_users_engine(engine: Engine, images: dict[str, BuiltImage], tmp_path: Path) -> None:
    """The tree lies where the image expects it, for solver and grader; the card says that no lock makes the image."""
    home, suite = tmp_path / "state", str(tmp_path / "kettles")
    project = make_project(tmp_path / "repos")
    source = save_rows(tmp_path / "rows.jsonl", classic(project))
    files = {"kettle/__init__.py": KETTLE, "tests/test_kettle.py": OLD_TESTS}
    with image_with(engine, images["python"].handle, "/testbed", files) as image:
        brought = trialbox(home, "suite", "import", "swe-bench", str(source), "--output", suite, "--image", image)
        assert brought.code == 0, brought.err
        shown = trialbox(home, "suite", "show", suite, "--json")
        assert shown.code == 0, shown.err
        where = "command:sh -c 'test \"$PWD\" = /testbed && sed -i s/99/100/ kettle/__init__.py'"
        ran = trialbox(home, "run", suite, "--solver", "reference,noop", "--solver", where, "--energy", "off", "--json")
        assert ran.code == 0, ran.err
        solved = {name: row["solved"] for name, row in ran.json["solvers"].items()}
        assert solved == {"reference": 1, "noop": 0, "command": 1}
        told = trialbox(home, "report", ran.json["run"])
        assert "no lock makes them anew: acme-test-kettle" in " ".join(told.out.split())
    gone = trialbox(home, "run", suite, "--solver", "noop")
    assert gone.code == 2
    assert "is not in this engine; load the image that the suite was imported with" in gone.line


def test_mistakes_are_one_line_with_a_remedy(tmp_path: Path) -> None:
    home = tmp_path / "state"
    (tmp_path / "rows.jsonl").write_text("{}\n")
    cases = {
        ("suite", "import", "swebench", "rows.jsonl"): "'swebench' can't be imported; did you mean `swe-bench`?",
        ("suite", "import", "swe-bench", "nothing.jsonl"): "nothing.jsonl: is not there; check the path",
        ("suite", "import", "harbor", ".", "--output", "Bad Name"): "'Bad Name' can't be a suite's name",
        ("suite", "import", "harbor", ".", "--repos", "rows.jsonl"): "--repos: rows.jsonl is no folder",
        ("suite", "import", "swe-bench", "rows.jsonl"): "rows.jsonl: line 1: instance_id: this key is missing",
        ("suite", "export", "smoke", "--to", "harbour", "--output", "x"): "did you mean `--to harbor`?",
        ("suite", "export", "smoke", "--to", "harbor", "--output", "."): "exists already",
        ("suite", "export", "none", "--to", "harbor", "--output", "x"): "there is no such suite",
        ("grade", "smoke", "--predictions", "rows.jsonl"): "line 1: instance_id: this key is missing",
        ("grade", "smoke"): "--predictions: is missing",
    }
    for words, said in cases.items():
        ran = trialbox(home, *words)
        assert ran.code == 2, (words, ran.err)
        assert said in ran.line, (words, ran.err)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "state"]


def test_a_suite_leaves_for_harbor(tmp_path: Path) -> None:
    made = trialbox(
        tmp_path / "state", "suite", "export", "smoke", "--to", "harbor", "--output", str(tmp_path / "h"), "--json"
    )
    assert made.code == 0, made.err
    assert sorted(path.name for path in (tmp_path / "h").iterdir()) == sorted(made.json["files"])
    assert all(any(one.startswith("image: ") for one in lost) for lost in made.json["not_carried"].values())

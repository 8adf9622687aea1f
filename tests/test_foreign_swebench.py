"""SWE-bench's dialects, imported from rows of our own and graded in real containers: gold is 1.0, nothing is 0.0."""

from __future__ import annotations

import datetime
import importlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.suites.foreign.importing import Kind
from harness.suites.groups import Trust
from harness.suites.tree import REGULAR, Entry, Tree
from tests.foreign_rig import (
    FAIL,
    FIXED,
    ID,
    PASS,
    TODAY,
    Project,
    Rig,
    changed,
    classic,
    image_with,
    make_project,
    save_rows,
    write,
)

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("repos"))


@pytest.fixture
def rig(engine: Engine, images: dict[str, BuiltImage], owner: str) -> Rig:
    return Rig(engine, images, owner)


RUN = "python -m pytest -rA -v -p no:cacheprovider tests/test_kettle.py"
PARSER = (
    "def parser(log):\n    said = {}\n    for line in log.splitlines():\n        word, _, name = line.partition(' ')\n"
    "        if word in ('PASSED', 'FAILED', 'SKIPPED', 'XFAIL'):\n            said[name.split(' - ')[0]] = word\n"
    "    return said\n"
)
PRO_PARSER = (
    "import json, re, sys\nout = open(sys.argv[1]).read() + open(sys.argv[2]).read()\n"
    "found = re.findall(r'^(PASSED|FAILED|SKIPPED|XFAIL) (\\S+)', out, re.M)\n"
    "json.dump({'tests': [{'name': n, 'status': s} for s, n in found]}, open(sys.argv[3], 'w'))\n"
)


def v5(project: Project) -> dict[str, Any]:
    script = (
        f"#!/bin/bash\nset -uxo pipefail\ngit status\n: '>>>>> Start Test Output'\n{RUN}\n: '>>>>> End Test Output'\n"
    )
    more = {"image": "acme/none:latest", "log_parser": "parse_log_pytest", "eval_script": script}
    return classic(project, eval_type="pass_and_fail", FAIL_TO_PASS=FAIL, PASS_TO_PASS=PASS, **more)


def pro(project: Project) -> dict[str, Any]:
    row = classic(project)
    del row["FAIL_TO_PASS"], row["PASS_TO_PASS"]
    return {
        **row,
        "fail_to_pass": str(FAIL),
        "pass_to_pass": str(PASS[:1]),
        "requirements": "- boil() is true from 100.",
        "interface": "No new interfaces.",
        "before_repo_set_cmd": "git checkout x",
        "selected_test_files_to_run": "['tests/test_kettle.py']",
        "dockerhub_tag": "acme.kettle-7",
    }


def live(project: Project, parser: str) -> dict[str, Any]:
    more = {"docker_image": "acme/none", "rebuild_cmds": ["pip install -e ."], "test_cmds": [RUN], "print_cmds": []}
    return classic(project, FAIL_TO_PASS=FAIL, PASS_TO_PASS=PASS[:1], log_parser=parser, **more)


def rebench(project: Project) -> dict[str, Any]:
    config = {"test_cmd": "pytest --no-header -rA", "log_parser": "parse_log_pytest", "python": "3.11"}
    config["test_cmd"] = "python -m " + config["test_cmd"]
    return classic(project, install_config=config, PASS_TO_PASS=[one for one in PASS if "skipped" not in one])


def unittest_ids(project: Project) -> dict[str, Any]:
    names = ["test_boil (tests.test_unit.Kettle)"], ["test_name (tests.test_unit.Kettle)"]
    style = [
        f"{name.split(' ')[0]} ({name[:-1].split('(')[1]}.{name.split(' ')[0]})" for name in (*names[0], *names[1])
    ]
    return classic(project, test_patch=project.unit_test, FAIL_TO_PASS=style[:1], PASS_TO_PASS=str(style[1:]))


@pytest.mark.parametrize(
    ("row", "dialect", "trust"),
    [
        (classic, "swe-bench", Trust.IN_TREE),
        (v5, "swe-bench-v5", Trust.REPORTED),
        (lambda one: live(one, "pytest"), "swe-bench-live", Trust.REPORTED),
        (lambda one: live(one, PARSER), "swe-bench-live", Trust.REPORTED),
        (rebench, "swe-rebench", Trust.REPORTED),
        (unittest_ids, "swe-bench", Trust.REPORTED),
    ],
    ids=["classic", "v5", "live", "live-code", "rebench", "unittest"],
)
def test_gold_gives_one_and_nothing_gives_zero(
    rig: Rig, project: Project, tmp_path: Path, row: Callable[[Project], dict[str, Any]], dialect: str, trust: Trust
) -> None:
    source = save_rows(tmp_path / "rows.jsonl", row(project))
    report, suite = rig.bring(Kind.SWE_BENCH, source, tmp_path / "kettles", repos=project.repos)
    (told,), (task,) = report.tasks, suite.tasks
    assert (told.id, told.origin, told.dialect, told.trust) == ("acme-kettle-7", ID, dialect, trust)
    assert task.trust is trust
    assert any(one.startswith("image: ") for one in told.not_carried)
    assert task.before["kettle/__init__.py"].data != FIXED.encode()
    assert "hidden" not in {path.split("/")[0] for path in task.before}
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


@pytest.mark.parametrize(
    ("told", "day"),
    [
        ("2024-05-01T10:00:00Z", datetime.date(2024, 5, 1)),
        (1714521600000, datetime.date(2024, 5, 1)),
        (1714521600, datetime.date(2024, 5, 1)),
        ("2024-02-30", None),
        ("soon", None),
        (True, None),
        (-1, None),
        (None, None),
    ],
)
def test_a_day_that_is_not_told_is_said_to_be_the_imports(rig: Rig, told: object, day: datetime.date | None) -> None:
    found, notes = rig.context().day(told)
    assert found == (day or TODAY)
    assert [note.name for note in notes] == ([] if day else ["created"])


def test_pro_brings_its_scripts_and_its_requirements(rig: Rig, project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "pro"
    scripts = {"run_script.sh": f"#!/bin/bash\necho $1 >&2\n{RUN}\n", "parser.py": PRO_PARSER}
    write(folder / "run_scripts" / ID, scripts)
    save_rows(folder / "rows.jsonl", pro(project))
    report, suite = rig.bring(Kind.SWE_BENCH, folder / "rows.jsonl", tmp_path / "kettles", repos=project.repos)
    (task,) = suite.tasks
    assert report.tasks[0].dialect == "swe-bench-pro"
    assert "Requirements:\n- boil() is true from 100." in task.prompt
    assert any(one.startswith("before_repo_set_cmd: ") for one in report.tasks[0].not_carried)
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


def test_a_task_repository_of_version_5(rig: Rig, project: Project, tmp_path: Path) -> None:
    row = v5(project)
    lists = {name: row.pop(name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    texts = {
        "gold.patch": row.pop("patch"),
        "test.patch": row.pop("test_patch"),
        "eval.sh": row.pop("eval_script"),
        "problem_statement.md": row.pop("problem_statement"),
        "tests.json": json.dumps(lists),
        "task.yaml": json.dumps(row),  # JSON is YAML
        "test_assets/tests/data.bin": "as it is",
    }
    write(tmp_path / "repo" / "tasks" / ID, texts)
    write(tmp_path / "repo", {"sweb.yaml": "datasets: [a]\n"})
    _, suite = rig.bring(Kind.SWE_BENCH, tmp_path / "repo", tmp_path / "kettles", repos=project.repos)
    (task,) = suite.tasks
    assert "tree/tests/data.bin" in task.hidden
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


def test_verified_as_parquet(rig: Rig, project: Project, tmp_path: Path) -> None:
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    folder = tmp_path / "SWE-bench_Verified" / "data"
    folder.mkdir(parents=True)
    parquet.write_table(arrow.Table.from_pylist([classic(project)]), folder / "test-00000-of-00001.parquet")
    report, suite = rig.bring(Kind.SWE_BENCH, folder.parent, tmp_path / "verified", repos=project.repos)
    assert [one.origin for one in report.tasks] == [ID]
    assert suite.tasks[0].spec.provenance is not None


def test_a_skipped_or_missing_test_fails_what_must_begin_to_pass(rig: Rig, project: Project, tmp_path: Path) -> None:
    """And is, if skipped, fine where it had to go on passing; so are expected failures on both sides."""
    skipped, odd = "tests/test_kettle.py::test_skipped", "tests/test_kettle.py::test_odd"
    rows = [
        classic(project, instance_id="acme__kettle-1", FAIL_TO_PASS=[*FAIL, skipped], PASS_TO_PASS=[]),
        classic(project, instance_id="acme__kettle-2", FAIL_TO_PASS=[*FAIL, odd], PASS_TO_PASS=[skipped]),
        classic(project, instance_id="acme__kettle-3", PASS_TO_PASS=["tests/test_kettle.py::test_gone"]),
    ]
    source = save_rows(tmp_path / "rows.jsonl", *rows)
    _, suite = rig.bring(Kind.SWE_BENCH, source, tmp_path / "kettles", repos=project.repos)
    scores = [rig.score(task, task.reference.tree, tmp_path) for task in suite.tasks]
    assert scores == [Fraction(0), Fraction(1), Fraction(0)]


def test_what_a_candidate_does_to_the_tests_is_undone_and_to_their_settings_refused(
    rig: Rig, project: Project, tmp_path: Path
) -> None:
    source = save_rows(tmp_path / "rows.jsonl", classic(project))
    _, suite = rig.bring(Kind.SWE_BENCH, source, tmp_path / "kettles", repos=project.repos)
    (task,) = suite.tasks
    emptied = task.before.overlay(Tree([Entry("tests/test_kettle.py", REGULAR, b"def test_boil(): pass\n")]))
    assert rig.score(task, emptied, tmp_path) == 0
    printed = task.before.overlay(
        Tree([Entry("kettle/__init__.py", REGULAR, b"print('PASSED tests/test_kettle.py::test_boil')\n")])
    )
    assert rig.score(task, printed, tmp_path) == 0
    settings = task.before.overlay(Tree([Entry("pytest.ini", REGULAR, b"[pytest]\naddopts = -k name\n")]))
    assert rig.score(task, settings, tmp_path) == "test_config_modified"


def test_a_clone_is_read_without_its_hooks_filters_and_attributes(rig: Rig, tmp_path: Path) -> None:
    project = make_project(tmp_path / "repos")
    repo = project.repos / "acme__kettle"
    mark = tmp_path / "ran"
    with (repo / ".git" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = touch {mark}\n[filter "x"]\n\tsmudge = touch {mark}\n')
    write(repo / ".git" / "info", {"attributes": "* filter=x export-ignore\n"})
    source = save_rows(tmp_path / "rows.jsonl", classic(project))
    _, suite = rig.bring(Kind.SWE_BENCH, source, tmp_path / "kettles", repos=project.repos)
    assert set(suite.tasks[0].before) == {"README.md", "kettle/__init__.py", "tests/test_kettle.py"}
    assert not mark.exists()


def test_the_tree_of_a_pinned_image_where_its_packages_expect_it(
    rig: Rig, images: dict[str, BuiltImage], project: Project, tmp_path: Path
) -> None:
    """As SWE-bench's own images have it: the tree in /testbed, and no clone at hand."""
    files = {"kettle/__init__.py": project_file(project), "tests/test_kettle.py": "def test_name(): pass\n"}
    with image_with(rig.engine, images["python"].handle, "/testbed", files) as image:
        row = classic(project, test_patch=changed(project.repos / "acme__kettle", {"tests/test_more.py": MORE}),
                      FAIL_TO_PASS=["tests/test_more.py::test_boil"], PASS_TO_PASS=[])  # fmt: skip
        source = save_rows(tmp_path / "rows.jsonl", row)
        report, suite = rig.bring(Kind.SWE_BENCH, source, tmp_path / "kettles", image=image)
        (task,) = suite.tasks
        assert task.workspace == "/testbed"
        assert any(one.startswith("commit: ") for one in report.tasks[0].not_carried)
        assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


MORE = "from kettle import boil\n\n\ndef test_boil():\n    assert not boil(99)\n"


def project_file(project: Project) -> str:
    return (project.repos / "acme__kettle" / "kettle" / "__init__.py").read_text()

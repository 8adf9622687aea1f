"""Predictions in every shape that the dialects write, matched with tasks, and written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UserError
from harness.suites.foreign.predictions import Prediction, match, read_predictions, to_json_lines
from harness.suites.load import load_suite
from tests.conftest import ROOT

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n"
ONE = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": PATCH}


@pytest.mark.parametrize(
    ("name", "text", "model"),
    [
        ("p.jsonl", json.dumps(ONE) + "\n\n", "m"),
        ("p.json", json.dumps([ONE]), "m"),
        ("p.json", json.dumps({"a__b-1": ONE}), "m"),
        ("p.json", json.dumps({"a__b-1": {"model_patch": PATCH}}), "unknown"),
        ("p.json", json.dumps([{"instance_id": "a__b-1", "patch": PATCH, "prefix": "run-1"}]), "run-1"),
        ("p.json", json.dumps(ONE), "m"),
    ],
    ids=["lines", "list", "by id", "live", "pro", "alone"],
)
def test_shapes(tmp_path: Path, name: str, text: str, model: str) -> None:
    (tmp_path / name).write_text(text)
    (one,) = read_predictions(tmp_path / name)
    assert (one.instance, one.model, one.patch) == ("a__b-1", model, PATCH)


@pytest.mark.parametrize("value", [None, ""])
def test_a_null_patch_is_an_empty_one(tmp_path: Path, value: str | None) -> None:
    (tmp_path / "p.json").write_text(json.dumps([{**ONE, "model_patch": value}]))
    assert read_predictions(tmp_path / "p.json")[0].patch == ""


texts = st.text("ab+-@ \n\r\té\u2028\U0001f375", max_size=40)
ids = st.text("abé1_-", min_size=1, max_size=6)


@given(st.dictionaries(st.tuples(ids, ids), texts, min_size=1, max_size=5))
def test_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, patches: dict[Any, str]) -> None:
    path = tmp_path_factory.mktemp("p") / "p.jsonl"
    made = [Prediction("", instance, model, patch) for (instance, model), patch in patches.items()]
    path.write_bytes(to_json_lines(made))
    assert [(one.instance, one.model, one.patch) for one in read_predictions(path)] == [
        (one.instance, one.model, one.patch) for one in made
    ]


def test_predictions_go_by_a_tasks_own_id_too() -> None:
    tasks = load_suite(ROOT / "tasks" / "smoke").tasks
    said = [Prediction("1", "seed-vault", "m", "x"), Prediction("2", "other", "m", "x")]
    found = match(said, tasks, "p.json")
    assert found.strangers == ("other",)
    assert found.by_model["m"].keys() == {"seed-vault"}
    with pytest.raises(UserError, match=r"p\.json: predicts for no task of the suite"):
        match(said[1:], tasks, "p.json")


def test_one_task_under_its_two_ids_is_one_prediction_too_many() -> None:
    (task, *_) = load_suite(ROOT / "tasks" / "smoke").tasks
    said = [Prediction("1", task.id, "m", "x"), Prediction("2", task.id, "m", "y"), Prediction("3", task.id, "n", "y")]
    with pytest.raises(UserError, match=r"2: predicts '.*' again, as 1 does"):
        match(said, [task], "p.json")
    assert match(said[1:], [task], "p.json").by_model.keys() == {"m", "n"}

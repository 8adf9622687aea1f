"""Patches made elsewhere, in all the shapes that SWE-bench's dialects write, and ours in the shape they read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from harness.digest import sha256_bytes
from harness.errors import UserError
from harness.suites.foreign.rows import read_rows
from harness.suites.formats.foreign import ForeignTask
from harness.suites.parse import parse
from harness.suites.task import Task

UNNAMED = "unknown"


class _Prediction(BaseModel):
    """One row: ``model_patch`` everywhere but in Pro, which also says ``patch``, and ``prefix`` for the model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instance_id: Annotated[str, Field(min_length=1, max_length=400)]
    model_name_or_path: str | None = None
    prefix: str | None = None
    model_patch: str | None = None
    patch: str | None = None

    @model_validator(mode="after")
    def _has_a_patch(self) -> Self:
        if not {"model_patch", "patch"} & self.model_fields_set:
            raise ValueError("needs model_patch (or patch): a diff as text, or null")
        return self


_ROW: TypeAdapter[_Prediction] = TypeAdapter(_Prediction)


@dataclass(frozen=True)
class Prediction:
    """A patch for one instance, by one model; an empty patch is one that nobody wrote anything in."""

    where: str
    instance: str
    model: str
    patch: str


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Every prediction of a file, or of the files in a folder.

    Raises:
        UserError: a row is malformed, or one model predicts twice for one instance.
    """
    found: dict[tuple[str, str], Prediction] = {}
    for row in read_rows(path):
        read = parse(_ROW, row.values, row.where)
        model = (read.model_name_or_path or read.prefix or UNNAMED).strip() or UNNAMED
        patch = read.model_patch if read.model_patch is not None else read.patch
        one = Prediction(row.where, read.instance_id, model, patch or "")
        first = found.setdefault((one.model, one.instance), one)
        if first is not one:
            raise UserError(
                row.where, f"predicts {one.instance!r} again, as {first.where} does", "leave one of them out"
            )
    if not found:
        raise UserError(str(path), "holds no prediction", "expected instance_id and model_patch in each row")
    return tuple(found.values())


@dataclass(frozen=True)
class Matched:
    """Predictions by model and task id. ``strangers`` are instances that the suite doesn't have."""

    by_model: Mapping[str, Mapping[str, Prediction]]
    strangers: tuple[str, ...]


def match(predictions: Iterable[Prediction], tasks: Iterable[Task], where: str) -> Matched:
    """Find each prediction's task: by its id here, or by the id it came with.

    Raises:
        UserError: no prediction is for a task of the suite, or two of one model are, under the task's two ids.
    """
    names: dict[str, str] = {}
    for task in tasks:
        names[task.id] = task.id
        if isinstance(task.spec, ForeignTask):
            names[task.spec.origin.id] = task.id
    by_model: dict[str, dict[str, Prediction]] = {}
    strangers: dict[str, None] = {}
    for one in predictions:
        if one.instance in names:
            taken = by_model.setdefault(one.model, {})
            first = taken.setdefault(names[one.instance], one)
            if first is not one:
                raise UserError(
                    one.where, f"predicts {one.instance!r} again, as {first.where} does", "leave one of them out"
                )
        else:
            strangers[one.instance] = None
    if not by_model:
        known = ", ".join(list(names)[:3])
        raise UserError(where, f"predicts for no task of the suite, which has {known}", "is it another data set's?")
    return Matched(by_model, tuple(strangers))


def model_digest(predictions: Mapping[str, Prediction]) -> dict[str, str]:
    """What stands behind a row of patches: the digest of each, by task."""
    return {task: sha256_bytes(one.patch.encode("utf-8", "surrogatepass")) for task, one in sorted(predictions.items())}


def to_json_lines(predictions: Iterable[Prediction]) -> bytes:
    """SWE-bench's own shape: one object a line."""
    rows = (
        {"instance_id": one.instance, "model_name_or_path": one.model, "model_patch": one.patch} for one in predictions
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()

"""A model's cutoff against a task's dates: whether the model may have been trained on it. Unknown stays unknown.

The table is data (``cutoffs.toml``), each row with its source and the day on which that was read. A task is older
than a model if any of it was public, or the upstream fix was merged, on or before the cutoff.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Literal

from pydantic import TypeAdapter

from audits.basis import TaskBasis
from audits.records import Citation, Relation, Training
from harness.model_names import names_model
from harness.records import Record

UNKNOWN = "unknown"


class Cutoff(Record):
    """A row of the table."""

    model: str
    cutoff: datetime.date
    kind: Literal["training", "knowledge"]
    source: str


_ROWS: TypeAdapter[tuple[Cutoff, ...]] = TypeAdapter(tuple[Cutoff, ...])


@lru_cache(maxsize=1)
def table() -> tuple[Cutoff, ...]:
    """The rows that come with this version."""
    raw = tomllib.loads(resources.files("audits").joinpath("cutoffs.toml").read_text("utf-8"))
    return _ROWS.validate_python(raw["models"])


def find(model: str, rows: Sequence[Cutoff] | None = None) -> Cutoff | None:
    """The row of a model, by the longest id that its name is or goes on from: with a date, a provider, a version."""
    fitting = [one for one in (table() if rows is None else rows) if names_model(model, one.model)]
    return max(fitting, key=lambda one: len(one.model), default=None)


def training_of(
    models: Sequence[str],
    basis: TaskBasis | None,
    recalled: tuple[Citation, ...] = (),
    rows: Sequence[Cutoff] | None = None,
) -> Training:
    """How the models' cutoffs lie to a task: the latest of them counts, and one that is unknown makes it unknown."""
    named = [one for one in models if one and one != UNKNOWN]
    first, merged = (basis.earliest, basis.merged) if basis else (None, None)
    if not models:
        return Training(relation=Relation.NO_MODEL, first_public=first, merged=merged, recalled=recalled)
    found = [(one, find(one, rows)) for one in named]
    known = [(one, row) for one, row in found if row is not None]
    if not known or len(known) < len(models):
        model = next((one for one, row in found if row is None), UNKNOWN)
        return Training(
            relation=Relation.CUTOFF_UNKNOWN, model=model, first_public=first, merged=merged, recalled=recalled
        )
    model, row = max(known, key=lambda one: one[1].cutoff)
    return Training(
        relation=_relation(row, first, merged),
        model=model,
        cutoff=row.cutoff.isoformat(),
        source=row.source,
        first_public=first,
        merged=merged,
        recalled=recalled,
    )


def _relation(row: Cutoff, first: str | None, merged: str | None) -> Relation:
    dates = [one for one in (first, merged) if one is not None]
    if any(one <= row.cutoff.isoformat() for one in dates):
        return Relation.PRE_CUTOFF
    if first is None:
        return Relation.DATES_UNKNOWN
    return Relation.POST_CUTOFF if row.kind == "training" else Relation.CUTOFF_UNKNOWN

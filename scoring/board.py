"""What a comparison needs of a card: plan, figures of cells, totals of solvers. Small, however large the card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from harness.digest import Digest
from harness.errors import VerifyError
from harness.outcomes import Outcome, in_denominator
from harness.records import Plan, SolverRef, to_value
from harness.untrusted import clean_text
from scoring.card import Card
from scoring.measured import MeasuredSolver
from scoring.planned import NOT_PLANNED, planned_count
from scoring.stamp import EngineStamp, HarnessInfo, HostStamp, Prices, RunStamp

FIGURES = ("f", "q", "s", "c", "combined")
"""The figures of a cell by their names on a card; the last is in 0..100, the others in 0..1."""

_NUMBER = re.compile(r"[0-9]+(?:/0*[1-9][0-9]*|\.[0-9]+)?")
_LONGEST = 1000
"""Characters of a figure: more than any exact mean of parts of an attempt has, and few enough to be read at once."""
_AGAIN = "get the card again from who made it"
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Scored:
    """One ended cell: its outcome, and the figures in the order of :data:`FIGURES`, None where there is none."""

    outcome: Outcome
    figures: tuple[Fraction | None, ...]

    @property
    def counts(self) -> bool:
        """Whether it was scored: it is in the denominator."""
        return in_denominator(self.outcome)

    @property
    def solved(self) -> Fraction:
        """1 or 0."""
        return _ONE if self.outcome is Outcome.SOLVED else _ZERO


@dataclass(frozen=True)
class EnergyClass:
    """What two energies must share to be compared at all."""

    meter: str
    provenance: str
    zone_set: str
    scope: str
    host: str
    watts: str | None


Cells = Mapping[str, Mapping[str, Mapping[int, Scored]]]
"""By solver, task and attempt."""


@dataclass(frozen=True)
class Board:
    """A card as far as a comparison needs it."""

    id: Digest
    core_digest: Digest
    plan: Plan
    cells: Cells
    solvers: Mapping[str, MeasuredSolver]
    energy: Mapping[str, EnergyClass]
    """By solver that has an energy."""
    run: RunStamp
    harness: HarnessInfo
    host: HostStamp
    engine: EngineStamp
    prices: Prices | None

    def solver(self, name: str) -> SolverRef:
        """A solver of the plan."""
        return next(one for one in self.plan.solvers if one.name == name)


@cache
def scored(outcome: str, *figures: str | None) -> Scored:
    """A cell from its texts; equal cells are one object, since a large card has few different ones.

    Raises:
        ValueError: there is no such outcome.
        VerifyError: a figure is none: texts such as ``1/0`` or ``1e999999999`` are in a file as easily as others.
    """
    most = (*(1 for _ in FIGURES[:-1]), 100)
    found = (None if one is None else _figure(one, limit) for one, limit in zip(figures, most, strict=True))
    return Scored(Outcome(outcome), tuple(found))


def _figure(text: str, most: int) -> Fraction:
    value = Fraction(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None
    if value is None or not 0 <= value <= most:
        raise VerifyError("core.cells", f"holds {clean_text(text, 40)!r}, which is no figure", _AGAIN)
    return value


def cell_of(value: Mapping[str, Any]) -> tuple[str, str, int, Scored]:
    """A cell of ``core.cells``, as plain values, by its place.

    Raises:
        KeyError, TypeError, ValueError: it is none.
        VerifyError: it holds a figure that is none.
    """
    place = value["cell"]
    exact = (value[name]["exact"] for name in FIGURES[:-1])
    return (
        place["solver"],
        place["task"],
        place["attempt"],
        scored(value["outcome"], *exact, value["combined"]["value"]),
    )


def energy_of(value: Mapping[str, Any]) -> tuple[str, EnergyClass | None]:
    """The solver of a cell of ``measured.cells``, and its energy's class if it has one.

    Raises:
        KeyError, TypeError: it is none.
    """
    energy = value["energy"]
    if energy is None:
        return value["cell"]["solver"], None
    return value["cell"]["solver"], EnergyClass(
        meter=energy["meter"],
        provenance=energy["provenance"],
        zone_set=energy["zone_set"],
        scope=energy["scope"],
        host=energy["host_fingerprint"],
        watts=energy["estimator_watts"],
    )


def gathered(plan: Plan, cells: Iterable[tuple[str, str, int, Scored]]) -> Cells:
    """Cells by solver, task and attempt.

    Raises:
        VerifyError: they are not the planned ones, each once. Digests can be worked out anew by anybody.
    """
    found: dict[str, dict[str, dict[int, Scored]]] = {}
    count = 0
    for solver, task, attempt, one in cells:
        found.setdefault(solver, {}).setdefault(task, {})[attempt] = one
        count += 1
    planned = {task.task for task in plan.tasks}
    # The number first: a forged one of attempts is not to be counted up to.
    if count != planned_count(plan):
        raise VerifyError("core.cells", NOT_PLANNED, _AGAIN)
    attempts = set(range(1, plan.attempts + 1))
    if (
        found.keys() != {solver.name for solver in plan.solvers}
        or any(tasks.keys() != planned for tasks in found.values())
        or any(one.keys() != attempts for tasks in found.values() for one in tasks.values())
        or count != len(found) * len(planned) * len(attempts)
    ):
        raise VerifyError("core.cells", NOT_PLANNED, _AGAIN)
    return found


def board_of(card: Card) -> Board:
    """The board of a card that has been read whole."""
    energy: dict[str, EnergyClass] = {}
    for one in card.measured.cells:
        name, found = energy_of(to_value(one))
        if found is not None:
            energy.setdefault(name, found)
    return Board(
        id=card.id,
        core_digest=card.core_digest,
        plan=card.core.plan,
        cells=gathered(card.core.plan, (cell_of(to_value(one)) for one in card.core.cells)),
        solvers=card.measured.solvers,
        energy=energy,
        run=card.stamp.run,
        harness=card.stamp.harness,
        host=card.stamp.host,
        engine=card.stamp.engine,
        prices=card.stamp.prices,
    )

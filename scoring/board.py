"""What a comparison needs of a card: plan, figures of cells, totals of solvers. Small, however large the card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from harness.digest import Digest
from harness.errors import VerifyError
from harness.outcomes import Outcome, in_denominator
from harness.records import Plan, SolverRef, to_value
from scoring.card import Card
from scoring.measured import MeasuredSolver
from scoring.stamp import EngineStamp, HarnessInfo, HostStamp, Prices, RunStamp

FIGURES = ("f", "q", "s", "c", "combined")
"""The figures of a cell by their names on a card; the last is in 0..100, the others in 0..1."""


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
    """A cell from its texts; equal cells are one object, since a large card has few different ones."""
    return Scored(Outcome(outcome), tuple(None if one is None else Fraction(one) for one in figures))


def cell_of(value: Mapping[str, Any]) -> tuple[str, str, int, Scored]:
    """A cell of ``core.cells``, as plain values, by its place.

    Raises:
        KeyError, TypeError, ValueError: it is none.
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
    planned, attempts = {task.task for task in plan.tasks}, set(range(1, plan.attempts + 1))
    if (
        found.keys() != {solver.name for solver in plan.solvers}
        or any(tasks.keys() != planned for tasks in found.values())
        or any(one.keys() != attempts for tasks in found.values() for one in tasks.values())
        or count != len(found) * len(planned) * len(attempts)
    ):
        raise VerifyError("core.cells", "are not the planned ones, each once", "get the card again from who made it")
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

"""What a run stands on, and the plan that is fixed before its first dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.gateway.access import Billing
from harness.gateway.providers import SCRIPTED
from harness.ledger import Ledger
from harness.progress import Progress
from harness.records import Plan, RunMode, SolverRef
from harness.solvers.manifest import Solver
from harness.state import State
from harness.suites.hashing import suite_ref, task_ref
from scoring.formula import FORMULA
from scoring.prices import PriceTable
from trialbox.asking import NOBODY, Asking
from trialbox.opening import score_basis
from trialbox.request import Request, Selection

LOCAL = "local"
"""The provider of models on servers of one's own, whatever their names."""


@dataclass(frozen=True)
class Bench:
    """All that a run stands on."""

    request: Request
    selection: Selection
    asked: Mapping[str, Asking]
    prices: PriceTable
    images: Mapping[str, BuiltImage]
    engine: Engine
    state: State
    ledger: Ledger
    progress: Progress


def make_plan(bench: Bench) -> Plan:
    """Everything that is fixed before the first dispatch."""
    request, selection, images = bench.request, bench.selection, bench.images
    basis = score_basis(images, bench.engine)
    return Plan(
        suite=suite_ref(selection.suite, basis),
        partial=selection.partial,
        tasks=tuple(task_ref(selection.suite, task, basis) for task in selection.tasks),
        solvers=tuple(_ref(solver, bench.asked.get(solver.name)) for solver in selection.solvers),
        attempts=request.each,
        mode=RunMode.REAL if request.real else RunMode.DRY,
        provider=_provider(bench.asked),
        formula=FORMULA.digest,
        images=tuple(images[name].ref for name in sorted(images)),
        budget=request.terms.of_plan(bench.prices) if bench.asked else None,
        best_of=request.best_of,
    )


def _ref(solver: Solver, asking: Asking | None) -> SolverRef:
    ref = solver.ref()
    if asking is None:
        return ref
    return ref.model_copy(update={"provider": asking.provider, "billing": asking.billing.value})


def _provider(asked: Mapping[str, Asking]) -> str:
    """The providers of a plan by name; a local one's own name is its solver's affair."""
    reached = [one for one in asked.values() if one.provider != NOBODY]
    names = {LOCAL if one.upstream and one.billing is Billing.LOCAL else one.provider for one in reached}
    return ", ".join(sorted(names)) or SCRIPTED

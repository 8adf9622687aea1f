"""What a solver asked of its model: tokens, models, effort, denials and cost, as the gateway saw them.

All of it is over every try, repeated ones included. A try that died with its process left no trace: what it used is
unknown, so sums with one in them are a lower bound and say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from harness.gateway.access import Billing
from harness.gateway.records import AttemptTraffic, Fault, Provided, Usage
from harness.gateway.usage import cut, total
from harness.ledger import TryState
from harness.outcomes import Outcome
from harness.records import Count, Microseconds, Record, RunMode, SolverRef
from harness.traffic import Exchange
from harness.untrusted import clean_text
from scoring.cost import View, views
from scoring.evidence import Evidence, TryEvidence

UNASKED = "unknown"
"""What a solver's reference says where no effort was asked for."""


class Effort(StrEnum):
    """How far an effort that was asked for can be seen on the wire."""

    NOT_ASKED = "not_asked"
    CONFIRMED = "confirmed"
    """Each request that names an effort names this one."""
    UNCONFIRMED = "unconfirmed"
    """The wire names another, or none: the agent may word it differently, or leave it out."""


class ModelUse(Record):
    """A solver's use of its model over all its tries."""

    provider: str
    billing: Billing
    tries: Count
    """Tries that ran, or may have."""
    metered: Count
    """Those whose traffic is known."""
    requests: Count
    denied: Count
    retries: Count
    """Requests that repeat one which ended in a fault."""
    stripped: dict[Provided, Count]
    """What was taken out of requests, by kind."""
    faults: dict[Fault, Count]
    usage: Usage
    requested_models: tuple[str, ...]
    served_models: tuple[str, ...]
    effort_requested: str
    efforts_reported: tuple[str, ...]
    """As on the wire; efforts of different vendors are not comparable."""
    effort: Effort
    costs: tuple[View, ...]
    """Views of one and the same usage: never added."""
    solve_us: Microseconds
    """Time of its solver's runs, summed; attempts may overlap."""
    elapsed_us: Microseconds | None
    """From the first try's beginning to the last one's end, other solvers' attempts between them included."""
    quota: dict[str, str]
    """The provider's rate-limit and quota headers, each with its last value."""


def model_use(evidence: Evidence, solver: SolverRef) -> ModelUse | None:
    """A solver's use of its model; None for one that needs none."""
    if solver.provider is None or solver.billing is None:
        return None
    tries = [one for one in evidence.of_solver(solver.name) if ran(evidence, one)]
    seen = [(one, traffic) for one in tries if (traffic := _traffic(evidence, one)) is not None]
    shorts = [traffic for _, traffic in seen]
    billing = Billing(solver.billing)
    dry = evidence.plan.mode is RunMode.DRY
    solved = sum(
        evidence.final(cell).outcome is Outcome.SOLVED for cell in evidence.plan.cells() if cell.solver == solver.name
    )
    reported = _distinct(traffic.efforts for traffic in shorts)
    return ModelUse(
        provider=clean_text(solver.provider),
        billing=billing,
        tries=len(tries),
        metered=len(seen),
        requests=sum(traffic.requests for traffic in shorts),
        denied=sum(traffic.denied for traffic in shorts),
        retries=sum(traffic.retries for traffic in shorts),
        stripped=_counted(Provided, (traffic.stripped for traffic in shorts)),
        faults={fault: n for fault in Fault if (n := sum(traffic.faults.count(fault) for traffic in shorts))},
        usage=_usage(shorts, len(tries)),
        requested_models=_distinct(traffic.requested_models for traffic in shorts),
        served_models=_distinct(traffic.served_models for traffic in shorts),
        effort_requested=clean_text(solver.effort_requested),
        efforts_reported=reported,
        effort=_effort(solver.effort_requested, reported),
        costs=views(None if dry else evidence.prices, [_used(evidence, one) for one in tries], billing, solved),
        solve_us=sum(_solve_us(evidence, one) for one in tries),
        elapsed_us=elapsed(evidence.of_solver(solver.name)),
        quota={clean_text(name): clean_text(text) for traffic in shorts for name, text in traffic.quota.items()},
    )


def ran(evidence: Evidence, one: TryEvidence) -> bool:
    """Whether a try's solver ran, or may have: one that was never dispatched used nothing."""
    record = evidence.record_of(one)
    return record is None or record.solve is not None or record.traffic is not None


def _traffic(evidence: Evidence, one: TryEvidence) -> AttemptTraffic | None:
    record = evidence.record_of(one)
    return None if record is None else record.traffic


def _used(evidence: Evidence, one: TryEvidence) -> Sequence[Exchange] | None:
    return None if one.record is None else evidence.used.get(one.record.digest)


def _usage(shorts: Sequence[AttemptTraffic], tries: int) -> Usage:
    lost = [cut("it died with its process")] * (tries - len(shorts))
    summed = total((f"try {n}", one) for n, one in enumerate([*(traffic.usage for traffic in shorts), *lost]))
    return summed if not summed.reason else summed.model_copy(update={"reason": _reason(shorts, len(lost))})


def _reason(shorts: Sequence[AttemptTraffic], lost: int) -> str:
    open_ones = [traffic.usage.reason for traffic in shorts if traffic.usage.reason]
    said = [f"{len(open_ones)} of {len(shorts) + lost} tries: {open_ones[0]}"] if open_ones else []
    return "; ".join([*said, *([f"{lost} tries left no trace"] if lost else [])])


def _effort(requested: str, reported: Sequence[str]) -> Effort:
    if requested == UNASKED:
        return Effort.NOT_ASKED
    return Effort.CONFIRMED if tuple(reported) == (requested,) else Effort.UNCONFIRMED


def _solve_us(evidence: Evidence, one: TryEvidence) -> int:
    record = evidence.record_of(one)
    return record.solve.wall_us if record is not None and record.solve is not None else 0


def elapsed(tries: Sequence[TryEvidence]) -> int | None:
    """None if a try's end is not known; the last one's is, as it ended its cell."""
    ends = [one.ended_us for one in tries if one.ended_us is not None]
    return max(ends) - min(one.started_us for one in tries) if ends and tries[-1].state is TryState.ENDED else None


def _distinct(many: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean_text(text) for texts in many for text in texts))


def _counted(kinds: type[Provided], many: Iterable[dict[Provided, int]]) -> dict[Provided, int]:
    counts: Counter[Provided] = Counter()
    for one in many:
        counts.update(one)
    return {kind: counts[kind] for kind in kinds if counts[kind]}

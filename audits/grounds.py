"""How much of each axis was watched, from an attempt's channels: what a verdict of nothing found can stand on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from audits.basis import TaskBasis
from audits.records import Axis, Seen
from audits.verdict import Ground
from harness.evidence import AttemptRecord
from harness.records import Coverage, SolverRef
from harness.references import WEB
from harness.solvers.manifest import DriverKind
from harness.traces.records import DENIED, FILESYSTEM

WORST = (Coverage.FULL, Coverage.PARTIAL, Coverage.NONE)
"""From the best to the worst."""
_NOT_SEEN = Seen(coverage=Coverage.NONE, reason="no tracer watched this channel")


@dataclass(frozen=True)
class Surroundings:
    """What an audit must know besides the record.

    ``nonces`` are the marks of gradings whose material might have got out, each with a name. ``rehearsed`` says that no
    model answered: a script did. ``seeds`` keeps the lines of starting trees, by archive, from one audit to the next.
    """

    solver: SolverRef | None
    basis: TaskBasis | None
    nonces: tuple[tuple[str, str], ...] = ()
    rehearsed: bool = False
    seeds: dict[str, frozenset[int]] = field(default_factory=dict)


def ground_of(axis: Axis, record: AttemptRecord, channels: Mapping[str, Seen], about: Surroundings) -> Ground:
    """How much of an axis was watched."""
    match axis:
        case Axis.FILESYSTEM:
            return _filesystem(record, channels, about)
        case Axis.WEB:
            return _web(record, channels)
        case Axis.GRADING:
            return Ground(Coverage.FULL, "capture and grading are the harness's own")
        case Axis.SUBMITTER:
            return _submitter(record, channels, about)
        case _:
            assert_never(axis)


def all_shown(record: AttemptRecord, channels: Mapping[str, Seen]) -> bool:
    """Whether all that a model was shown is known."""
    return record.traffic is not None and channels.get(WEB, _NOT_SEEN).coverage is Coverage.FULL


def _filesystem(record: AttemptRecord, channels: Mapping[str, Seen], about: Surroundings) -> Ground:
    if record.solve is None:
        return _elsewhere()
    seen = channels.get(FILESYSTEM, _NOT_SEEN)
    if seen.coverage is not Coverage.FULL:
        return Ground(seen.coverage, seen.reason, firm=False)
    gaps = []
    if channels.get(DENIED, _NOT_SEEN).coverage is not Coverage.FULL:
        gaps.append("calls that failed were not all watched")
    if about.basis is None:
        gaps.append("the task's canaries are not known here")
    return Ground(Coverage.PARTIAL if gaps else Coverage.FULL, "; ".join(gaps) or seen.reason)


def _web(record: AttemptRecord, channels: Mapping[str, Seen]) -> Ground:
    if record.solve is None:
        return _elsewhere()
    seen = channels.get(WEB, _NOT_SEEN)
    if record.traffic is None and seen.lines == 0:
        seal = record.solve.seal
        if seal.interfaces == ("lo",) and seal.routes_off_loopback == 0:
            return Ground(Coverage.FULL, "there was no network and no gateway, as read back from the kernel")
        return Ground(Coverage.NONE, seen.reason, firm=False)
    return Ground(seen.coverage, seen.reason, firm=seen.coverage is Coverage.FULL)


def _submitter(record: AttemptRecord, channels: Mapping[str, Seen], about: Surroundings) -> Ground:
    if record.solve is None:
        return _elsewhere()
    kinds = {one.value: one for one in DriverKind}
    driver = kinds.get(about.solver.kind) if about.solver else None
    if driver is None:
        return Ground(Coverage.NONE, "what the solver is, is not known", firm=False)
    if driver.scripted:
        return Ground(Coverage.FULL, "a solver of the harness's own and no contender: it may hold the answer")
    if not driver.asks_model:
        return Ground(Coverage.PARTIAL, "a program of the submitter's own: only what it left was searched")
    web = channels.get(WEB, _NOT_SEEN)
    if web.coverage is not Coverage.FULL:
        return Ground(web.coverage, "not every request is known", firm=False)
    return Ground(Coverage.FULL, "every request was searched")


def _elsewhere() -> Ground:
    return Ground(Coverage.NONE, "the work was done elsewhere, and nobody watched", firm=False)

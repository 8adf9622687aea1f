"""What is noticed of an attempt, in words: its outcome, its flags, and what the audit says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from audits.attempt import audit_attempt
from audits.grounds import Surroundings
from audits.records import Axis, Fact, State
from harness.digest import sha256_bytes
from harness.evidence import AttemptRecord
from harness.outcomes import Outcome
from harness.records import SolverRef, to_json
from harness.solvers.manifest import DriverKind
from harness.store import LocalStore
from tests.audits_rig import basis
from tests.plans import ZERO

LOOT = "LOOT"
_QUIET = {State.CLEAN, State.CLEAN_PARTIAL, State.UNVERIFIABLE}
_CALM = (
    *("solved", "failed", "group ", "clean", "trust: ", "output cut", "dropped ", "host's clock"),
    *("same bytes", "host: no trace", "found nothing", "held: "),
)
"""Facts that accuse nobody."""


def facts_of(record: AttemptRecord, store: LocalStore) -> Iterator[str]:
    """Everything that is noticed of one attempt."""
    yield f"{record.outcome.value}: {record.kind}" if record.kind else record.outcome.value
    if record.outcome is Outcome.INFRA:
        yield f"the host's fault: {record.reason}"
    for stage in (record.capture, record.grade):
        yield from (f"flag: {flag}" for flag in (stage.flags if stage else ()))
    if record.capture is not None:
        yield from (f"dropped {one}" for one in record.capture.dropped)
    if record.grade is not None:
        yield from sorted({f"trust: {verdict.trust.value}" for verdict in record.grade.verdicts})
        for verdict in record.grade.verdicts:
            if not verdict.passed:
                yield f"group {verdict.name}: {verdict.detail}"
    if record.solve is not None:
        said = store.get(record.solve.stdout.digest).decode("utf-8", "replace")
        yield from (line for line in said.splitlines() if line.startswith((LOOT, "found nothing", "held: ")))
        if record.solve.output_dropped:
            yield "output cut"
        if record.solve.wall_us >= 1_000_000:
            yield "host's clock: a second or more"
    yield from _audited(record, store)


def _audited(record: AttemptRecord, store: LocalStore) -> Iterator[str]:
    solver = SolverRef(name="probe", kind=DriverKind.COMMAND.value, manifest=ZERO)
    about = Surroundings(solver=solver, basis=basis())
    audit = audit_attempt(record, sha256_bytes(to_json(record)), store, about)
    for axis, verdict in audit.axes.items():
        if record.solve is None and axis is not Axis.GRADING:
            continue  # nobody watched how a patch came about
        if verdict.state is State.UNVERIFIABLE or verdict.state not in _QUIET:
            yield f"{axis.value}: {verdict.name}"
        yield from (f"flag: {one.kind.value}" for one in verdict.findings if one.fact is Fact.FLAG)


def alarms(facts: Iterable[str]) -> list[str]:
    """Those that accuse somebody. That nobody was allowed to watch accuses nobody."""
    return [one for one in facts if not one.startswith(_CALM) and not one.endswith(": unverifiable")]

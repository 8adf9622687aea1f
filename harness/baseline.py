"""The stage before any work: a task's unmodified base must fail as a base does, else the task is at fault."""

from __future__ import annotations

from harness.ahead import Ahead
from harness.errors import InfraError, VerifyError
from harness.evidence import GradeRecord
from harness.grade import GradingRoom, grade
from harness.ledger import CacheKind, Ledger
from harness.oracles.run import SPARE_S
from harness.records import from_json, to_json
from harness.store import Store, is_whole
from harness.suites.groups import GroupKind
from harness.suites.task import Task

GRADE_TYPE = "application/vnd.trialbox.grade+json"


def graded_base(task: Task, key: str, room: Ahead[GradingRoom], store: Store, cache: Ledger) -> GradeRecord:
    """The unmodified base, graded once for each *key*; a bad one is not remembered, a busy host may be why.

    Args:
        task: the task.
        key: the digest of all that decides what its grading gives.
        room: begun only if the base has to be graded.
        store: where the record is kept.
        cache: remembers it.

    Raises:
        InfraError: the engine failed, or the base ran out of time, which says nothing about the task.
    """
    known = cache.cached(CacheKind.BASELINE, key)
    if known is not None and is_whole(store, known.digest):
        try:
            return from_json(GradeRecord, store.get(known.digest))
        except VerifyError:  # whole, so an earlier version's, whose records were other ones
            pass
    record = grade(room, store, task, task.before)
    if not room.take().sandbox.alive():
        raise InfraError("baseline", "its container was ended from outside", "run the attempt again")
    blob = store.put(to_json(record), GRADE_TYPE)
    limit = task.limits.grade_wall_s
    fault = base_fault(record)
    if fault and record.wall_us >= (limit - SPARE_S) * 1_000_000:
        detail = f"grading the unmodified base ran into its limit of {limit} s ({fault})"
        raise InfraError("baseline", detail, "try again on a host that is less busy, or raise limits.grade_wall_s")
    if not fault:
        cache.keep(CacheKind.BASELINE, key, blob)
    return record


def base_fault(record: GradeRecord) -> str:
    """What is wrong with a base: every behaviour group must fail on it, every other pass. Empty if nothing is."""
    wrong = [
        f"{one.kind.value} group {one.name} " + ("passes" if one.passed else f"fails ({one.detail or 'no detail'})")
        for one in record.verdicts
        if one.passed is (one.kind is GroupKind.BEHAVIOUR)
    ]
    if record.rejection is not None:
        return record.rejection.value
    return ", ".join(wrong) if record.verdicts else "no group was graded"

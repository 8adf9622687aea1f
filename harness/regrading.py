"""An attempt's stored change graded again: the same stages after its capture, in the images that its card names.

What no grading can give is taken from the record, and said to be: that a limit was reached, what a provider or the host
did, a tree that was refused and so never kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from harness.ahead import Ahead
from harness.baseline import base_fault
from harness.change import MANIFEST_TYPE, apply, compare
from harness.cores import Cores
from harness.digest import digest, sha256_bytes
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import EngineGone, InfraError, StorageError, VerifyError
from harness.evidence import AttemptRecord, ChangeManifest, GradeRecord, SelectingRecord
from harness.grade import GradingRoom, grade
from harness.outcomes import MAX_TRIES, Ending, Gate, Outcome, graded, rule
from harness.patching import PatchRefused
from harness.records import BlobRef, ExecutionMode, Record, TaskRef, from_json, to_json
from harness.replies import Answer, GateFailure, applier, find_answer, gate_failure
from harness.scan import Scanner
from harness.scan.records import ScanRecord
from harness.scan.rules import SETTINGS
from harness.scan.scanner import SERVICE
from harness.selecting import look
from harness.store import Store
from harness.suites.groups import GroupKind
from harness.suites.hashing import GRADER_VERSION
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.untrusted import Refused

SCORER = digest({"grader": GRADER_VERSION, "scanner": sha256_bytes(SERVICE.encode()), "rules": SETTINGS})
"""What besides the task, its images and the change decides what a grading gives."""

LIMIT_REACHED = "graded again; that its limit was reached is taken from the evidence"


class Redone(Record):
    """What grading a stored change again gave. ``base`` is for an attempt at a task whose base is at fault: what is."""

    manifest: BlobRef | None = None
    gate: Gate | None = None
    grade: GradeRecord | None = None
    scan: ScanRecord | None = None
    selecting: SelectingRecord | None = None
    base: str | None = None


def recorded_since(record: AttemptRecord) -> str:
    """Why an attempt's result can only be taken from its record; empty where it can be graded again."""
    match record.outcome:
        case Outcome.SOLVED | Outcome.PARTIAL | Outcome.FAILED | Outcome.TIMEOUT | Outcome.REJECTED:
            if _change(record) or _diff(record):
                return ""
            return "no change was kept" if record.outcome is not Outcome.REJECTED else "the refused tree is not kept"
        case Outcome.INVALID:
            return ""
        case Outcome.EXTRACT_FAILED:
            return "there was no answer to grade"
        case Outcome.REFUSED | Outcome.ERRORED | Outcome.UNAVAILABLE:
            return "what a provider did can't be graded"
        case Outcome.INFRA:
            return "what the host did can't be graded"
        case _:
            assert_never(record.outcome)


def key_of(record: AttemptRecord, ref: TaskRef, images: Mapping[str, str]) -> str:
    """By what a redone grading is remembered: the change, the task, the images that grade it, and the scorer.

    Args:
        record: the attempt, which can be graded again.
        ref: its task.
        images: our ids by name.
    """
    found = _change(record) or _diff(record)
    change = found.digest if found is not None and record.outcome is not Outcome.INVALID else "base"
    return digest([change, ref.score_hash, dict(images), SCORER, record.selecting is not None])


@dataclass(frozen=True)
class Regrader:
    """Grades stored changes. Safe to share between threads."""

    engine: Engine
    images: Mapping[str, BuiltImage]
    store: Store
    """Has the evidence; what grading leaves goes there too."""
    cores: Cores
    owner: str
    scanner: Scanner

    def afresh(self) -> Regrader:
        """The same without the scanner's memory."""
        return replace(self, scanner=replace(self.scanner, cache=None))

    def redo(self, record: AttemptRecord, task: Task) -> Redone:
        """Grade again; a failure of the host is tried again, as in a run.

        Raises:
            VerifyError: the stored change is none of the task's.
            InfraError: the engine failed, each time.
            GateError: a container is not sealed, or the host has too few cores.
        """
        for left in reversed(range(MAX_TRIES)):
            try:
                with self.cores.pinned(task.limits.cpus) as cpuset:
                    return self._once(record, task, cpuset)
            except (EngineGone, StorageError):
                raise
            except InfraError:
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, record: AttemptRecord, task: Task, cpuset: str) -> Redone:
        with self._room(task, cpuset) as room:
            if record.outcome is Outcome.INVALID:
                return Redone(base=base_fault(grade(room, self.store, task, task.before)))
            answer = self._answer(record, task)
            if isinstance(answer, GateFailure):
                return Redone(gate=answer.gate)
            manifest = self.store.put(to_json(compare(task.before, answer, self.store)), MANIFEST_TYPE)
            failed = gate_failure(task, answer, self)
            if failed is not None:
                return Redone(manifest=manifest, gate=failed.gate)
            selecting = None
            if record.selecting is not None:
                with self._room(task, cpuset) as apart:
                    selecting = look(apart, self.store, task, answer)
            verdict = grade(room, self.store, task, answer)
            scan = self.scanner.scan(task.before, answer) if verdict.rejection is None else None
            return Redone(manifest=manifest, grade=verdict, scan=scan, selecting=selecting)

    def _room(self, task: Task, cpuset: str) -> Ahead[GradingRoom]:
        image = self.images[task.image].handle
        return Ahead(lambda: GradingRoom(self.engine, image, task, cpuset, self.owner))

    def _answer(self, record: AttemptRecord, task: Task) -> Tree | GateFailure:
        """The tree that the stored change makes; of a diff that did not apply, what applying it again gives."""
        where = f"the change of {record.cell.key}"
        change, diff = _change(record), _diff(record)
        try:
            if change is not None:
                manifest = from_json(ChangeManifest, self.store.get(change.digest), where)
                answer = apply(task.before, manifest, self.store)
                compare(task.before, answer, self.store)
                return answer
            assert diff is not None
            data = self.store.get(diff.digest)
            if record.mode is ExecutionMode.FOREIGN_PATCH:
                return applier(task, self)(data)
            found = find_answer(task, data, task.before, applier(task, self))
        except PatchRefused as refused:
            return GateFailure(Gate.APPLY, refused.detail)
        except (Refused, ValueError, KeyError) as error:
            raise VerifyError(where, f"is none that its task can have: {error}", "get the evidence again") from error
        if isinstance(found, Answer):
            return found.tree
        return found if isinstance(found, GateFailure) else GateFailure(Gate.APPLY, found.reason)


def as_recorded(record: AttemptRecord, redone: Redone) -> AttemptRecord:
    """The attempt's record as it would be with what grading gave now."""
    outcome, kind = _ended(record, redone)
    capture = record.capture
    if capture is not None and redone.base is None:
        capture = capture.model_copy(update={"manifest": redone.manifest})
    return record.model_copy(
        update={
            "outcome": outcome,
            "kind": kind,
            "capture": capture,
            "grade": redone.grade,
            "scan": redone.scan,
            "selecting": redone.selecting,
        }
    )


def _ended(record: AttemptRecord, redone: Redone) -> tuple[Outcome, str]:
    if redone.base is not None:
        return (Outcome.INVALID, record.kind) if redone.base else (Outcome.INFRA, "the base is as it must be")
    if redone.grade is not None and redone.grade.rejection is not None:
        return Outcome.REJECTED, redone.grade.rejection.value
    if record.outcome is Outcome.TIMEOUT:
        return record.outcome, record.kind
    if redone.gate is not None or redone.grade is None:
        return Outcome.FAILED, redone.gate.value if redone.gate else ""
    row = rule(Ending.OUT_OF_MEMORY)
    starved = record.solve is not None and record.solve.ending is Ending.OUT_OF_MEMORY
    passed = [(one.kind is GroupKind.BEHAVIOUR, one.passed) for one in redone.grade.verdicts]
    outcome = graded([ok for mine, ok in passed if mine], [ok for mine, ok in passed if not mine])
    return outcome, row.kind if starved else ""


def _change(record: AttemptRecord) -> BlobRef | None:
    return record.capture.manifest if record.capture is not None else None


def _diff(record: AttemptRecord) -> BlobRef | None:
    """What holds a diff that did not apply: the patch as it came, or the reply."""
    if record.outcome is not Outcome.FAILED or record.kind != Gate.APPLY.value or _change(record) is not None:
        return None
    if record.mode is ExecutionMode.FOREIGN_PATCH:
        return record.capture.patch if record.capture is not None else None
    return record.solve.stdout if record.solve is not None else None

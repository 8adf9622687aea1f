"""Audits of what is stored: gathers a run's records and what its tasks give to look for, and keeps what was found.

No engine is asked. An audit made when a card was stamped keeps its bases beside the evidence; where there are none,
they are made from the suite that is here, if its starting trees are those of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audits.basis import BASIS_TYPE, TaskBasis, basis_of
from audits.records import AUDIT_TYPE, RunAudit
from audits.run import Tried, audit_run
from harness.digest import sha256_bytes
from harness.errors import TrialboxError, UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger, TryState
from harness.records import BlobRef, Plan, from_json, to_json
from harness.store import LocalStore, Store
from harness.suites.load import find_suites, load_suite
from harness.suites.task import Task
from scoring.audited import Audited, make_audited
from scoring.evidence import Evidence, TryEvidence, try_evidence
from trialbox import places

if TYPE_CHECKING:
    from scoring.card import Card

Bases = Mapping[str, tuple[TaskBasis, BlobRef]]


def audit_evidence(evidence: Evidence, tasks: Mapping[str, Task], store: Store) -> Audited:
    """Audit a finished run, keep the audit, and say what a card says of it."""
    tries = _tries(evidence.tries, evidence.records)
    bases = {ref.task: _kept(basis_of(tasks[ref.task], ref), store) for ref in evidence.plan.tasks if ref.task in tasks}
    audit = audit_run(evidence.plan, tries, store, bases)
    return make_audited(audit, store.put(to_json(audit), AUDIT_TYPE))


@dataclass(frozen=True)
class Found:
    """An audit of a run or card that is stored here. ``stamped`` is the digest of the one that its card names."""

    name: str
    plan: Plan
    audit: RunAudit
    digest: str
    stamped: str | None


def audit_stored(name: str) -> Found:
    """Audit a run (finished or not) or a card by its id, its beginning, its file, or ``latest``.

    Raises:
        UserError: there is no such thing.
        VerifyError: a record is missing or damaged.
    """
    from trialbox.cards import load, of_run

    store = LocalStore(places.state().blobs)
    try:
        card = load(of_run(name) or name)
    except UserError as error:
        open_run = _open_run(name)
        if open_run is None:
            raise error from None
        return _found(name, *open_run, store, None)
    return _found(card.id, card.core.plan, card.stamp.evidence, store, card)


def _open_run(name: str) -> tuple[Plan, Sequence[TryEvidence]] | None:
    state = places.state()
    if not state.ledger.exists() or not state.ledger.stat().st_size:
        return None
    with Ledger(state.ledger, reading=True) as ledger:
        runs = {run.id: run for run in ledger.runs()}
        run = next(reversed(runs.values()), None) if name == "latest" else runs.get(name)
        return None if run is None else (run.plan, try_evidence(ledger.tries(run.id)))


def _found(name: str, plan: Plan, tries: Sequence[TryEvidence], store: Store, card: Card | None) -> Found:
    records = {
        one.record.digest: from_json(AttemptRecord, store.get(one.record.digest), f"record of {one.cell.key}")
        for one in tries
        if one.record is not None
    }
    stamped = card.stamp.audit.audited if card is not None else None
    bases = _stored_bases(stamped, store) or _suite_bases(plan, records, store)
    audit = audit_run(plan, _tries(tries, records), store, bases)
    return Found(name, plan, audit, sha256_bytes(to_json(audit)), stamped.record.digest if stamped else None)


def _tries(tries: Sequence[TryEvidence], records: Mapping[str, AttemptRecord]) -> list[Tried]:
    last = {one.cell.key: one.attempt_try for one in sorted(tries, key=lambda one: one.attempt_try)}
    return [
        Tried(
            one.record.digest,
            records[one.record.digest],
            final=one.state is TryState.ENDED and one.attempt_try == last[one.cell.key],
        )
        for one in tries
        if one.record is not None and one.record.digest in records
    ]


def _stored_bases(stamped: Audited | None, store: Store) -> Bases:
    found: dict[str, tuple[TaskBasis, BlobRef]] = {}
    for task, ref in (stamped.bases if stamped else {}).items():
        try:
            found[task] = (from_json(TaskBasis, store.get(ref.digest)), ref)
        except VerifyError:
            continue  # that task's canaries are then not known, and the verdict says so
    return found


def _suite_bases(plan: Plan, records: Mapping[str, AttemptRecord], store: Store) -> Bases:
    """From the suites that are here: tasks whose starting tree is the one that the run began from."""
    began = {record.cell.task: record.seed.base for record in records.values() if record.seed is not None}
    found: dict[str, tuple[TaskBasis, BlobRef]] = {}
    try:
        for folder in find_suites(places.data_folder("tasks")).values():
            if folder.name.partition("@")[0] == plan.suite.name:
                suite = load_suite(folder, keep_going=True, releases=places.releases())
                for ref in plan.tasks:
                    task = next((one for one in suite.tasks if one.id == ref.task), None)
                    if task is not None and task.before.digest == began.get(ref.task):
                        found[ref.task] = _kept(basis_of(task, ref), store)
    except TrialboxError:
        return found  # a suite that can't be loaded here is one whose canaries are not known
    return found


def _kept(basis: TaskBasis, store: Store) -> tuple[TaskBasis, BlobRef]:
    return basis, store.put(to_json(basis), BASIS_TYPE)

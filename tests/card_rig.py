"""A finished run made up in a store: everything that a card rests on, without an engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.change import MANIFEST_TYPE, PATCH_TYPE
from harness.energy.account import account
from harness.energy.records import EnergyRecord
from harness.engine import cgroup
from harness.engine.cgroup import ResourceUse, UsageSource
from harness.engine.runtime import advisories
from harness.engine.seal import SealFacts, SealSource
from harness.evidence import (
    AttemptRecord,
    CaptureRecord,
    Change,
    ChangeKind,
    ChangeManifest,
    GradeRecord,
    GroupVerdict,
    SeedRecord,
    SolveRecord,
    TraceRecord,
)
from harness.ledger import Intervention, InterventionKind, TryState
from harness.outcomes import Ending, Outcome, in_denominator
from harness.records import BlobRef, Cell, Coverage, ExecutionMode, Limits, Plan, to_json
from harness.store import LocalStore, Store
from harness.suites.groups import GroupKind, OracleKind, Trust
from scoring.card import Card, make_card, write_card
from scoring.evidence import Evidence, TryEvidence
from scoring.stamp import Circumstances, EngineStamp, HarnessInfo, HostStamp
from tests.energy_rig import WATT, window
from tests.plans import ZERO, plan

USE = ResourceUse(source=UsageSource.CGROUP_V2, memory_peak_bytes=9_000_000, cpu_us=120_000)
SEAL = SealFacts(
    source=SealSource.HOST,
    uid=10001,
    cap_effective="0",
    no_new_privileges=True,
    seccomp_filter=True,
    interfaces=("lo",),
    routes_off_loopback=0,
    mounts=(),
    limits=cgroup.Limits(memory_bytes=1 << 30, swap_bytes=0, pids=256, cpuset="0"),
)

MADE = Circumstances(
    run_id="0123456789ab",
    created_us=1_800_000_000_000_000,
    harness=HarnessInfo(version="0.1.0", commit="unknown", dirty=None),
    python="3.13.0",
    engine=EngineStamp(
        kind="docker",
        version="20.10",
        api_version="1.41",
        os="Debian",
        cgroup_version="2",
        cgroup_driver="systemd",
        storage_driver="overlay2",
        security=("seccomp",),
        runtime="runc",
        runtime_version="1.1.5+ds1",
        advisories=advisories("runc", "1.1.5+ds1"),
        same_kernel=True,
    ),
    host=HostStamp(cpus=2, memory_bytes=1 << 33, kernel="6.1", architecture="x86_64", cpu_model="Test CPU"),
    concurrency=2,
    interventions=(Intervention(kind=InterventionKind.RESUME, at_us=1, detail="1 abandoned"),),
    runs_known=1,
)


@dataclass(frozen=True)
class Attempt:
    """How a made-up attempt went: which groups passed (None: not graded), and what the solver drew and took."""

    outcome: Outcome = Outcome.SOLVED
    behaviour: tuple[bool, ...] | None = (True, True)
    regression: tuple[bool, ...] = (True,)
    joules: int = 5
    seconds: int = 3
    kind: str = ""
    patched: bool = True


def energy(store: Store, attempt: Attempt) -> EnergyRecord:
    """A counter's record of that many joules over an idle of 50 W."""
    gross = attempt.joules * WATT + 50 * WATT * attempt.seconds
    made, data = window([(0, 1_000_000), (attempt.seconds, 1_000_000 + gross)])
    store.put(data, "application/x-ndjson")
    return account(made)


def make_record(store: Store, of: Plan, cell: Cell, attempt_try: int, attempt: Attempt) -> AttemptRecord:
    """The record of one try, with every blob in the store."""
    ran = attempt.outcome not in {Outcome.INVALID, Outcome.UNAVAILABLE}
    text = f"{cell.task} {attempt.behaviour}".encode()
    manifest = ChangeManifest(
        base=ZERO,
        changes=(Change(path="a.py", kind=ChangeKind.ADDED, mode=0o644, content=store.put(text, "text/plain")),)
        if attempt.patched
        else (),
    )
    verdicts = [
        GroupVerdict(
            name=f"{kind.value}-{number}",
            kind=kind,
            oracle=OracleKind.CASES,
            trust=Trust.HOST_HELD,
            passed=passed,
            checks=3,
            checks_passed=3 if passed else 1,
            detail="a line",
        )
        for kind, results in (
            (GroupKind.BEHAVIOUR, attempt.behaviour or ()),
            (GroupKind.REGRESSION, attempt.regression),
        )
        for number, passed in enumerate(results)
    ]
    return AttemptRecord(
        plan=of.id,
        cell=cell,
        attempt_try=attempt_try,
        task=next(ref for ref in of.tasks if ref.task == cell.task),
        mode=ExecutionMode.SEALED,
        limits=Limits(),
        cpuset="0",
        concurrency=2,
        outcome=attempt.outcome,
        kind=attempt.kind,
        reason="" if in_denominator(attempt.outcome) else "a fault",
        seed=SeedRecord(archive=store.put(b"seed", "application/x-tar"), base=ZERO),
        solve=SolveRecord(
            argv=("solve",),
            ending=Ending.COMPLETED,
            exit_status=0,
            stdout=store.put(f"out {cell.key} {attempt_try}".encode(), "application/octet-stream"),
            stderr=store.put(b"", "application/octet-stream"),
            output_dropped=0,
            started_us=1,
            wall_us=attempt.seconds * 1_000_000,
            seal=SEAL,
            use=USE,
            energy=energy(store, attempt),
        )
        if ran
        else None,
        capture=CaptureRecord(
            manifest=store.put(to_json(manifest), MANIFEST_TYPE),
            patch=store.put(b"patch of " + text, PATCH_TYPE),
            entries=3,
            counted=3,
            bytes=30,
        )
        if ran
        else None,
        grade=GradeRecord(
            verdicts=tuple(verdicts),
            observations=store.put(b"{}", "application/json"),
            nonce=ZERO,
            use=USE,
            wall_us=250_000,
        )
        if ran and attempt.behaviour is not None
        else None,
        traces=(TraceRecord(channel="web", coverage=Coverage.NONE, reason="not watched"),) if ran else (),
    )


def try_of(store: Store, record: AttemptRecord) -> TryEvidence:
    """The ledger's line for an ended try."""
    blob = store.put(to_json(record), "application/vnd.trialbox.attempt+json")
    return TryEvidence(
        cell=record.cell,
        attempt_try=record.attempt_try,
        state=TryState.ENDED,
        started_us=10,
        ended_us=20,
        record=blob,
    )


def abandoned(cell: Cell, attempt_try: int) -> TryEvidence:
    """The ledger's line for a try that died."""
    return TryEvidence(
        cell=cell, attempt_try=attempt_try, state=TryState.ABANDONED, started_us=5, ended_us=None, record=None
    )


def make_evidence(store: Store, of: Plan, tries: dict[Cell, list[Attempt | None]]) -> Evidence:
    """A finished run; None is a try that was abandoned. Cells that are not named were solved at once."""
    lines: list[TryEvidence] = []
    records: dict[str, AttemptRecord] = {}
    for cell in of.cells():
        for number, attempt in enumerate(tries.get(cell, [Attempt()]), 1):
            if attempt is None:
                lines.append(abandoned(cell, number))
                continue
            record = make_record(store, of, cell, number, attempt)
            lines.append(try_of(store, record))
            records[lines[-1].record.digest if lines[-1].record else ""] = record
    return Evidence(of, tuple(lines), records)


def whole_run(folder: Path) -> tuple[Card, Path, LocalStore]:
    """A card in ``cards/`` and its evidence in ``blobs/``: two solvers, two tasks, two attempts, one retry."""
    store = LocalStore(folder / "blobs")
    of = plan()
    cells = of.cells()
    evidence = make_evidence(
        store,
        of,
        {
            cells[0]: [None, Attempt()],
            cells[1]: [Attempt(Outcome.PARTIAL, (True, False))],
            cells[2]: [Attempt(Outcome.INFRA, None, kind="host"), Attempt(Outcome.FAILED, (True, True), (False,))],
            cells[3]: [Attempt(Outcome.TIMEOUT, (False, True), kind="wall", seconds=30)],
        },
    )
    card = make_card(evidence, replace_run(MADE))
    return card, write_card(folder / "cards", card), store


def replace_run(made: Circumstances, **changes: object) -> Circumstances:
    """The circumstances of another run."""
    return made.model_copy(update=changes)


def blob_path(store: LocalStore, blob: BlobRef | str) -> Path:
    """The file of a blob."""
    name = (blob if isinstance(blob, str) else blob.digest).removeprefix("sha256:")
    return store.root / name[:2] / name[2:]

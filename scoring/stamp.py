"""The stamp: how a run was made, and what its card may be taken for. Its publisher alone vouches for it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.decoys import HONEY
from harness.digest import Digest
from harness.energy.records import IdleBaseline
from harness.engine.runtime import Advisory, advisories
from harness.ledger import Intervention
from harness.records import (
    BlobRef,
    Count,
    Coverage,
    ExecutionMode,
    Grown,
    Limits,
    Microseconds,
    Record,
    RunMode,
    to_json,
)
from harness.scan.records import Tools
from harness.suites.groups import OracleKind, Trust
from harness.suites.lock import Standing
from scoring import wording
from scoring.audited import Audited
from scoring.evidence import Evidence, TryEvidence
from scoring.prices import PriceTable

if TYPE_CHECKING:  # a card is read without an engine's SDK
    from harness.engine.client import EngineInfo


PRICES_TYPE = "application/vnd.trialbox.prices+json"


class AuditStatus(StrEnum):
    """What the audits can say of a card as a whole."""

    AUDITED = "audited"
    """Every attempt that counts was audited, and can be called clean or contaminated."""
    UNVERIFIABLE = "unverifiable"
    """Some attempt can't be: of it some channel was not watched, or not wholly."""
    NOT_AUDITED = "not_audited"
    """Every channel was watched; nobody has audited what was seen."""


class HarnessInfo(Record):
    """The code that ran. ``commit`` is ``unknown`` where it is no checkout; ``dirty`` is then None."""

    version: str
    commit: str
    dirty: bool | None


class EngineStamp(Record):
    """The engine, without what names places on the host."""

    kind: Literal["docker", "podman"]
    version: str
    api_version: str
    os: str
    cgroup_version: str
    cgroup_driver: str
    storage_driver: str
    security: tuple[str, ...]
    runtime: str
    runtime_version: str
    advisories: tuple[Advisory, ...] = ()
    """Container escapes that the runtime's upstream version number suggests: a reason to look, not a finding."""
    same_kernel: bool


class HostStamp(Record):
    """The machine that the containers ran on, as the engine says; ``cpu_model`` is ``unknown`` for a remote one."""

    cpus: Count
    memory_bytes: Count
    kernel: str
    architecture: str
    cpu_model: str


class Circumstances(Record):
    """What the caller knows of a run and the evidence does not."""

    run_id: str
    created_us: Microseconds
    harness: HarnessInfo
    python: str
    engine: EngineStamp
    host: HostStamp
    concurrency: Count
    interventions: tuple[Intervention, ...]
    runs_known: Count
    """How many runs of this plan the ledger knew, this one included."""
    ledger: Digest | None = None
    """The last digest of the ledger's chain of what happened to this run."""
    certified: bool = False
    suite_lock: Standing | None = None
    """How the suite lies to its lock."""
    audited: Audited | None = None
    """What came of the audit, where there was one."""


class RunStamp(Grown):
    """The run's own facts."""

    later = frozenset({"ledger", "certified", "suite_lock"})

    id: str
    created_us: Microseconds
    mode: RunMode
    provider: str
    execution_modes: tuple[ExecutionMode, ...]
    concurrency: Count
    partial: bool
    image_drift: bool
    runs_known: Count
    """How many runs of this plan were known where it was stamped, this one included."""
    interventions: tuple[Intervention, ...]
    """Everything that an operator did: resumed, repeated, left out, changed a limit, asked a judge again."""
    ledger: Digest | None = None
    """The last digest of the ledger's chain of what happened to this run, by which a rewritten ledger is found."""
    certified: bool = False
    """Whether it was measured alone on its host, one attempt at a time, over a full idle calibration."""
    suite_lock: Standing | None = None
    """Whether the suite was what its version was locked as; None on older cards, which don't say."""


class Channel(Record):
    """How many of the attempts that count a channel covered fully, partly and not at all."""

    full: Count
    partial: Count
    none: Count


class Audit(Grown):
    """Coverage by channel, and what was found; None on cards that were made before there were audits."""

    later = frozenset({"audited"})

    status: AuditStatus
    channels: dict[str, Channel]
    audited: Audited | None = None


class Oracle(Record):
    """An oracle that graded here, and what trust its verdicts carry."""

    oracle: OracleKind
    trust: Trust
    groups: Count
    meaning: str


class Prices(Record):
    """The table by which money is shown: its date, and all of it among the blobs, by the digest that costs name."""

    date: str
    table: BlobRef


class Stamp(Grown):
    """Everything beside the results."""

    later = frozenset({"prices", "glossary"})

    run: RunStamp
    harness: HarnessInfo
    python: str
    engine: EngineStamp
    host: HostStamp
    tools: tuple[Tools, ...]
    """Each set of scanner versions that was used; one, unless a run was resumed with another image."""
    task_limits: dict[str, Limits]
    audit: Audit
    oracles: tuple[Oracle, ...]
    evidence: tuple[TryEvidence, ...]
    idle_after: IdleBaseline | None
    """The host's idle power after the last attempt, into which measured energies were settled; None: they were not."""
    limits: tuple[str, ...]
    """What a reader must know."""
    prices: Prices | None = None
    """None where no money is shown."""
    glossary: dict[str, str] = Field(default_factory=dict)
    """What the card's terms mean; empty on older cards."""


def make_stamp(evidence: Evidence, made: Circumstances) -> Stamp:
    """The stamp of a finished run.

    Raises:
        KeyError: a planned cell has not ended.
    """
    plan = evidence.plan
    finals = [evidence.final(cell) for cell in plan.cells()]
    return Stamp(
        run=RunStamp(
            id=made.run_id,
            created_us=made.created_us,
            mode=plan.mode,
            provider=plan.provider,
            execution_modes=tuple(mode for mode in ExecutionMode if any(one.mode is mode for one in finals)),
            concurrency=made.concurrency,
            partial=plan.partial,
            image_drift=any(image.drift for image in plan.images),
            runs_known=made.runs_known,
            interventions=made.interventions,
            ledger=made.ledger,
            certified=made.certified,
            suite_lock=made.suite_lock,
        ),
        harness=made.harness,
        python=made.python,
        engine=made.engine,
        host=made.host,
        tools=_tools(evidence),
        task_limits={one.cell.task: one.limits for one in finals},
        audit=_audit(evidence, made.audited),
        oracles=_oracles(evidence),
        evidence=tuple(evidence.tries),
        idle_after=evidence.idle_after,
        limits=wording.limits(plan, {one.mode for one in finals}),
        prices=None if evidence.prices is None else price_stamp(evidence.prices),
        glossary=wording.GLOSSARY,
    )


def price_stamp(table: PriceTable) -> Prices:
    """How a card names a price table."""
    size = len(to_json(table))
    return Prices(date=table.date, table=BlobRef(digest=table.digest, size=size, media_type=PRICES_TYPE))


def engine_stamp(info: EngineInfo) -> EngineStamp:
    """What of an engine's own account goes on a card."""
    taken = {name: getattr(info, name) for name in EngineStamp.model_fields if name not in {"kind", "advisories"}}
    known = advisories(info.runtime, info.runtime_version)
    return EngineStamp(kind=info.kind.value, advisories=known, **taken)


def host_stamp(info: EngineInfo, cpu_model: str) -> HostStamp:
    """The host as the engine sees it."""
    return HostStamp(
        cpus=info.cpus,
        memory_bytes=info.memory_bytes,
        kernel=info.kernel,
        architecture=info.architecture,
        cpu_model=cpu_model if info.same_kernel else "unknown",
    )


def _audit(evidence: Evidence, audited: Audited | None) -> Audit:
    finals = [evidence.final(cell) for cell in evidence.plan.cells()]
    solved = [one for one in finals if one.solve is not None]
    names = sorted({trace.channel for one in solved for trace in one.traces} - {HONEY})
    channels = {}
    for name in names:
        seen = [trace.coverage for one in solved for trace in one.traces if trace.channel == name]
        unseen = len(solved) - len(seen)
        channels[name] = Channel(
            full=seen.count(Coverage.FULL),
            partial=seen.count(Coverage.PARTIAL),
            none=seen.count(Coverage.NONE) + unseen,
        )
    if audited is not None:
        status = AuditStatus.AUDITED if audited.verifiable else AuditStatus.UNVERIFIABLE
        return Audit(status=status, channels=channels, audited=audited)
    whole = bool(channels) and all(one.full == len(solved) for one in channels.values())
    return Audit(status=AuditStatus.NOT_AUDITED if whole else AuditStatus.UNVERIFIABLE, channels=channels)


def _oracles(evidence: Evidence) -> tuple[Oracle, ...]:
    groups = {
        (cell.task, verdict.name): verdict
        for cell in evidence.plan.cells()
        if (record := evidence.final(cell)).grade is not None
        for verdict in (record.grade.verdicts if record.grade else ())
    }
    return tuple(
        Oracle(oracle=kind, trust=trust, groups=number, meaning=wording.TRUST[trust])
        for kind in OracleKind
        for trust in Trust
        if (number := sum(one.oracle is kind and one.trust is trust for one in groups.values()))
    )


def _tools(evidence: Evidence) -> tuple[Tools, ...]:
    scans = (evidence.final(cell).scan for cell in evidence.plan.cells())
    return tuple(dict.fromkeys(scan.tools for scan in scans if scan is not None and scan.tools is not None))

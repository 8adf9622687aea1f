"""What may be published, and the index of what was: a chain of entries that only grows.

A card is published as what it is: of a part of a suite as partial, with a channel that nobody watched as unverifiable.
What would make its figures another thing than they seem blocks it, each reason by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.digest import Digest, digest, sha256_bytes
from harness.energy.records import EnergyFlag
from harness.errors import VerifyError
from harness.records import Count, ExecutionMode, JudgeKind, Microseconds, Record, from_json, to_json, to_value
from harness.suites.lock import Standing
from harness.untrusted import clean_text
from scoring.card import Card
from scoring.comparable import rehearsed
from scoring.stamp import AuditStatus

GENESIS = sha256_bytes(b"trialbox index v1")


class Label(StrEnum):
    """What an entry says of its card, so that no reader takes it for more."""

    PARTIAL = "partial"
    """Tasks of the suite were left out."""
    INCOMPLETE = "incomplete"
    """Over a tenth of some solver's planned cells are excluded."""
    UNVERIFIABLE = "audit: unverifiable"
    """Some channel of some attempt was not watched; the card is in no audit-clean number."""
    CONTAMINATED = "audit: contaminated attempts"
    """The audit found access that no solver may have; the figures that are free of it stand beside the raw ones."""
    FOREIGN = "foreign patches"
    """Who made them, and how, is not known."""
    UNLOCKED = "unlocked images"
    """Tasks run in images that no lock makes anew."""
    UNLOCKED_SUITE = "unlocked suite"
    """Nobody locked the suite's version: what the version stands for is its hash alone."""


class Entry(Record):
    """One published card."""

    seq: Count
    prev: Digest
    """The digest of the entry before; of the first, that of a fixed text."""
    card: Digest
    core_digest: Digest
    at_us: Microseconds
    suite: str
    suite_version: str
    suite_hash: Digest
    plan: Digest
    runs_known: Count
    """How many runs of this plan were known when the card was stamped."""
    interventions: Count
    labels: tuple[Label, ...]

    @property
    def digest(self) -> str:
        """What the next entry carries."""
        return digest(to_value(self))


class Index(Record):
    """``cards/index.json``: every card that was published here, in order. Retired suites stay."""

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    entries: tuple[Entry, ...] = ()
    head: Digest = GENESIS
    """The last entry's digest."""

    def to_bytes(self) -> bytes:
        """The index's file."""
        return to_json(self)

    def entry_of(self, card: str) -> Entry | None:
        """The entry of a card."""
        return next((one for one in self.entries if one.card == card), None)


def read_index(data: bytes, where: str) -> Index:
    """An index whose every link holds.

    Raises:
        VerifyError: it is none, or was changed.
    """
    remedy = "put back a copy: what was published stays"
    try:
        index = from_json(Index, data, where)
    except VerifyError as error:
        raise VerifyError(where, f"is damaged ({error.problem})", remedy) from error
    if index.to_bytes() != data:
        raise VerifyError(where, "is not in canonical form", remedy)
    head = GENESIS
    for place, entry in enumerate(index.entries):
        if entry.seq != place or entry.prev != head:
            raise VerifyError(where, f"the chain of published cards is broken at entry {place}", remedy)
        head = entry.digest
    if head != index.head:
        raise VerifyError(where, f"the last entry ({len(index.entries) - 1}) is not the one that was written", remedy)
    return index


def hold_to(index: Index, known: dict[int, str], where: str) -> None:
    """Hold an index against what the ledger knows of it, which tells where entries were cut off at its end.

    Args:
        known: digests of entries by their places.

    Raises:
        VerifyError: an entry is gone, or is another one.
    """
    for place, stated in sorted(known.items()):
        if place >= len(index.entries) or index.entries[place].digest != stated:
            gone = "is gone" if place >= len(index.entries) else "is another one"
            raise VerifyError(where, f"entry {place} {gone}", "put back a copy: what was published stays")


def with_card(index: Index, card: Card, at_us: int) -> Index:
    """The index with one card more."""
    plan, run = card.core.plan, card.stamp.run
    entry = Entry(
        seq=len(index.entries),
        prev=index.head,
        card=card.id,
        core_digest=card.core_digest,
        at_us=at_us,
        suite=plan.suite.name,
        suite_version=plan.suite.version,
        suite_hash=plan.suite.hash,
        plan=plan.id,
        runs_known=run.runs_known,
        interventions=len(run.interventions),
        labels=labels(card),
    )
    return Index(entries=(*index.entries, entry), head=entry.digest)


def labels(card: Card) -> tuple[Label, ...]:
    """What must be said of a card wherever it is listed."""
    plan = card.core.plan
    said = {
        Label.PARTIAL: plan.partial,
        Label.INCOMPLETE: any(row.incomplete for row in card.core.aggregates.values()),
        Label.UNVERIFIABLE: card.stamp.audit.status is AuditStatus.UNVERIFIABLE,
        Label.CONTAMINATED: _contaminated(card),
        Label.FOREIGN: ExecutionMode.FOREIGN_PATCH in card.stamp.run.execution_modes,
        Label.UNLOCKED: any(not image.locked for image in plan.images),
        Label.UNLOCKED_SUITE: card.stamp.run.suite_lock is Standing.UNLOCKED,
    }
    return tuple(label for label in Label if said[label])


# --------------------------------------------------------------------------------------------------------------- gate


def blocks(card: Card) -> tuple[str, ...]:
    """Why a card may not be published, one line each with what to do about it; none if it may."""
    return tuple(_blocks(card))


def _blocks(card: Card) -> Iterator[str]:
    plan, stamp = card.core.plan, card.stamp
    if rehearsed(plan):
        yield f"mode: {plan.mode.value}, provider {clean_text(plan.provider)}: no model was asked (run it with --real)"
    if stamp.harness.dirty:
        yield f"dirty tree: the harness had changes that commit {stamp.harness.commit[:12]} does not name (commit them)"
    elif stamp.harness.dirty is None:
        yield "dirty tree: it is not known which code ran (run it from a clean checkout)"
    if stamp.run.image_drift or any(image.drift for image in plan.images):
        drifted = ", ".join(image.name for image in plan.images if image.drift)
        yield f"image drift: {drifted} built from other versions than locked (`trialbox images build`)"
    if stamp.run.suite_lock is Standing.CHANGED:
        suite = f"{clean_text(plan.suite.name)} {clean_text(plan.suite.version)}"
        remedy = "put the suite's files back, or raise its version, `trialbox suite lock`, and run it again"
        yield f"suite lock: {suite} is not what that version was locked as ({remedy})"
    if _unaudited(card):
        yield "unaudited: attempts were watched, and nobody has audited what was seen (`trialbox audit`)"
    if plan.judging is not None and plan.judging.kind is not JudgeKind.MODEL:
        yield f"judge: a {plan.judging.kind.value} judge never makes a publishable C"
    yield from _energy(card)


def _unaudited(card: Card) -> bool:
    """Whether something was seen that no audit has looked at. Where nothing was, there is nothing to audit."""
    audit = card.stamp.audit
    seen = any(channel.full or channel.partial for channel in audit.channels.values())
    return audit.status is AuditStatus.NOT_AUDITED or (audit.audited is None and seen)


def _contaminated(card: Card) -> bool:
    audited = card.stamp.audit.audited
    return audited is not None and any(cell.standing == "contaminated" for cell in audited.cells.values())


def _energy(card: Card) -> Iterator[str]:
    """An energy is published only from a certified run, in which ``~`` marks single figures; else it is left out."""
    run = card.stamp.run
    told = {flag for solver in card.measured.solvers.values() for flag in solver.flags}
    shown = any(solver.energy.covered for solver in card.measured.solvers.values())
    if not shown:
        return
    if not run.certified:
        marks = _named(told)
        yield f"energy: uncertified{marks} (run it with --certified where a counter reads, or with --energy off)"
        return
    for flag, why in (
        (EnergyFlag.QUICK_IDLE, "stands on a quick idle calibration"),
        (EnergyFlag.SHARED, "was shared with other attempts"),
    ):
        if flag in told:
            yield f"energy: said to be certified, but {why}"
    if run.concurrency > 1:
        yield f"energy: said to be certified, but {run.concurrency} attempts ran at once"


def _named(flags: set[EnergyFlag]) -> str:
    marking: Sequence[str] = [flag.value for flag in EnergyFlag if flag in flags and flag.marks]
    return f" and ~ ({', '.join(marking)})" if marking else ""

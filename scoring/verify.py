"""Whether a card is what it says, checked offline: its bytes, its evidence, and that one follows from the other.

Every problem is one line that names what is wrong: the field, the section, or the blob and who needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from audits.records import RunAudit
from harness.energy.account import verify as verify_energy
from harness.errors import UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.records import from_json, to_value
from harness.store import Store
from scoring.audited import audit_follows
from scoring.blobs import Blobs, read_record
from scoring.card import Card
from scoring.cardbytes import verify_bytes
from scoring.core import make_core
from scoring.evidence import Evidence, settled, used_by
from scoring.measured import make_measured
from scoring.planned import unplanned
from scoring.prices import PriceTable, read_table

__all__ = ["Depth", "Verification", "first_difference", "verify_bytes", "verify_card"]


class Depth(StrEnum):
    """How far a card was checked."""

    BYTES = "bytes"
    """Its bytes and digests, every blob behind it, and the core's aggregates from the card's own cells."""
    DERIVED = "derived"
    """And every figure worked out again from the evidence."""


@dataclass(frozen=True)
class Verification:
    """What came of it. ``card`` is None when the bytes are no card at all; of one that was checked in pieces, the three
    long lists are empty."""

    card: Card | None
    problems: tuple[str, ...]
    blobs: int
    """Distinct blobs that were read and found whole."""
    depth: Depth = Depth.DERIVED

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify_card(data: bytes, store: Store, expected_id: str | None = None) -> Verification:
    """Check a card and everything that it rests on.

    Args:
        data: the card file's bytes.
        store: where its evidence is.
        expected_id: the id that it was asked for by, if any.
    """
    card, problems = verify_bytes(data, expected_id)
    if card is None:
        return Verification(None, tuple(problems), 0)
    checked = Blobs(store)
    records = _records(card, checked)
    prices, audit = stamped(card, checked)
    problems += checked.problems
    problems += [] if audit is None or checked.problems else list(audit_follows(card, audit))
    if not checked.problems and unplanned(card) is None:
        problems += list(_follows(card, records, prices, store))
    return Verification(card, tuple(problems), len(checked.whole))


def _records(card: Card, blobs: Blobs) -> dict[str, AttemptRecord]:
    read = ((one.record, read_record(one, blobs)) for one in card.stamp.evidence)
    return {ref.digest: record for ref, record in read if ref is not None and record is not None}


def stamped(card: Card, blobs: Blobs) -> tuple[PriceTable | None, RunAudit | None]:
    """The blobs that the stamp itself names: the price table and the audit, with what the audit rests on."""
    return _prices(card, blobs), _audit(card, blobs)


def _prices(card: Card, blobs: Blobs) -> PriceTable | None:
    """The table that the card's costs are by."""
    stamp = card.stamp.prices
    data = None if stamp is None else blobs.read(stamp.table, "price table")
    if stamp is None or data is None:
        return None
    try:
        return read_table(data, f"blob {stamp.table.digest}")
    except UserError as error:
        blobs.complain(stamp.table, f"blob {stamp.table.digest} (price table) {error.problem}")
        return None


def _audit(card: Card, blobs: Blobs) -> RunAudit | None:
    """The audit that the card names."""
    audited = card.stamp.audit.audited
    if audited is None:
        return None
    for task, basis in audited.bases.items():
        blobs.check(basis, f"basis of the audit of {task}")
    data = blobs.read(audited.record, "audit")
    try:
        return None if data is None else from_json(RunAudit, data)
    except VerifyError as error:
        blobs.complain(audited.record, f"blob {audited.record.digest} (audit) {error.problem}")
        return None


def _follows(
    card: Card, records: Mapping[str, AttemptRecord], prices: PriceTable | None, store: Store
) -> Iterator[str]:
    """Whether core and measured values are what the evidence gives."""
    plan, plan_id = card.core.plan, card.core.plan.id
    for one in card.stamp.evidence:
        record = records.get(one.record.digest) if one.record else None
        if record is not None and (record.plan, record.cell, record.attempt_try) != (
            plan_id,
            one.cell,
            one.attempt_try,
        ):
            yield f"stamp.evidence: the record of {one.cell.key} try {one.attempt_try} is of another attempt"
            return
    try:
        for record in records.values():
            if record.solve is not None:
                verify_energy(record.solve.energy, store.get(record.solve.energy.readings.digest))
        after = card.stamp.idle_after
        seen = {name: settled(record, after, store) for name, record in records.items()}
        used, version = used_by(seen, store), card.core.statistics
        evidence = Evidence(plan, card.stamp.evidence, seen, after, used, prices, version)
        expected = {"core": make_core(evidence), "measured": make_measured(evidence)}
    except KeyError as error:
        yield f"stamp.evidence: cell {error.args[0]} has no final record"
        return
    except VerifyError as error:
        yield f"{error.where}: {error.problem}"
        return
    for part, computed in expected.items():
        if getattr(card, part) != computed:
            place = first_difference(to_value(computed), to_value(getattr(card, part)), part)
            yield f"{place or part}: is not what the evidence gives"


def first_difference(expected: Any, actual: Any, path: str) -> str | None:
    """The path of the first place where two values differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({*expected, *actual}):
            if key not in expected or key not in actual:
                return f"{path}.{key}"
            found = first_difference(expected[key], actual[key], f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            found = first_difference(one, other, f"{path}[{index}]")
            if found is not None:
                return found
        return None
    return None if expected == actual else path

"""Whether a card is what it says, checked offline: its bytes, its evidence, and that one follows from the other.

Every problem is one line that names what is wrong: the field, the section, or the blob and who needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.digest import canonical, digest
from harness.energy.account import verify as verify_energy
from harness.errors import VerifyError
from harness.evidence import AttemptRecord
from harness.records import BlobRef, from_json, to_value
from harness.references import attempt_blobs
from harness.store import Store
from harness.untrusted import clean_text
from scoring.card import PARTS, Card, card_id, parse, section_digests
from scoring.core import make_core
from scoring.evidence import Evidence, TryEvidence, settled
from scoring.measured import make_measured


@dataclass(frozen=True)
class Verification:
    """What came of it. ``card`` is None when the bytes are no card at all."""

    card: Card | None
    problems: tuple[str, ...]
    blobs: int
    """Distinct blobs that were read and found whole."""

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
    checked = _Blobs(store)
    records = _records(card, checked)
    problems += checked.problems
    if not checked.problems:
        problems += list(_follows(card, records, store))
    return Verification(card, tuple(problems), len(checked.whole))


def verify_bytes(data: bytes, expected_id: str | None = None) -> tuple[Card | None, list[str]]:
    """Check a card's own bytes: canonical, well-formed, and equal to each digest that it carries."""
    try:
        value = parse(data)
    except (ValueError, RecursionError) as error:
        return None, [f"the file is not JSON ({clean_text(str(error))})"]
    if not isinstance(value, dict):
        return None, ["the file holds no card"]
    problems = _digests(value) or list(_canonical(data, value))
    try:
        card = Card.from_bytes(data, "card")
    except VerifyError as error:
        return None, [*problems, *_malformed(error)]
    if card.to_bytes() != data and not problems:
        problems.append("the file writes a value in another way than a card does")
    if expected_id is not None and card.id != expected_id and not problems:
        problems.append(f"id: this is card {card.id}, not {expected_id}")
    return card, problems


def _canonical(data: bytes, value: Any) -> Iterator[str]:
    try:
        exact = canonical(value)
    except (ValueError, TypeError, RecursionError) as error:
        yield f"the file has no canonical form ({clean_text(str(error))})"
        return
    if exact != data:
        place = next(
            (n for n, (a, b) in enumerate(zip(exact, data, strict=False)) if a != b), min(len(exact), len(data))
        )
        yield f"the file is not in canonical form (byte {place})"


def _malformed(error: VerifyError) -> list[str]:
    """A model's refusal, with the path of the first field that it refuses."""
    errors = getattr(error.__cause__, "errors", None)
    if errors is None:
        return [clean_text(error.problem)]
    first = errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return [clean_text(f"{place}: {first['msg']}")]


def _digests(value: Mapping[str, Any]) -> list[str]:
    """Name what was changed. One change breaks the id and at most one section, so the odd one out can be told."""
    try:
        return list(_changed(value))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        return [f"the card lacks a part ({type(error).__name__}: {clean_text(str(error))})"]


def _changed(value: Mapping[str, Any]) -> Iterator[str]:
    if card_id(value) == value["id"] and value["core_digest"] == digest(value["core"]):
        if value["sections"] != section_digests(value):
            yield "sections: do not match the content, though the id does"
        return
    actual = section_digests(value)
    stated: Mapping[str, str] = value["sections"]
    wrong = [name for name in sorted({*actual, *stated}) if actual.get(name) != stated.get(name)]
    for repaired in _repairs(value, actual):
        if card_id({**value, **repaired}) == value["id"]:
            yield f"{_difference(value, repaired)}: was changed"
            return
    for name in wrong:
        yield f"{name}: was changed (its digest is now {actual.get(name, 'missing')})"
    if not wrong:
        yield f"id: the content hashes to {card_id(value)}"


def _repairs(value: Mapping[str, Any], actual: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What the card would be if only a digest on it had been changed."""
    yield {"core_digest": digest(value["core"])}
    yield {"sections": dict(actual)}
    yield {"schema_version": 1}


def _difference(value: Mapping[str, Any], repaired: Mapping[str, Any]) -> str:
    (name, good), *_ = repaired.items()
    bad = value[name]
    if isinstance(good, dict) and isinstance(bad, dict):
        inner = [key for key in sorted({*good, *bad}) if good.get(key) != bad.get(key)]
        return f"{name}.{clean_text(inner[0])}" if inner else name
    return str(name)


class _Blobs:
    """Reads each blob once and keeps the first complaint about each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.whole: set[str] = set()
        self._broken: dict[str, str] = {}

    @property
    def problems(self) -> list[str]:
        """One line for each missing or changed blob."""
        return list(self._broken.values())

    def read(self, ref: BlobRef, needed_by: str) -> bytes | None:
        """The blob's bytes if they are whole."""
        if ref.digest in self._broken:
            return None
        try:
            data = self.store.get(ref.digest)
        except VerifyError as error:
            self._broken[ref.digest] = f"{error.where} ({ref.media_type}, {needed_by}) {error.problem}"
            return None
        self.whole.add(ref.digest)
        if len(data) != ref.size:
            self._broken[ref.digest] = f"blob {ref.digest} ({needed_by}) has {len(data)} bytes, {ref.size} are stated"
        return data

    def complain(self, ref: BlobRef, line: str) -> None:
        """Note another fault of a blob."""
        self._broken.setdefault(ref.digest, line)

    def check(self, ref: BlobRef, needed_by: str) -> None:
        """Read a blob for its integrity alone; once is enough."""
        if ref.digest not in self.whole:
            self.read(ref, needed_by)


def _records(card: Card, blobs: _Blobs) -> dict[str, AttemptRecord]:
    records: dict[str, AttemptRecord] = {}
    for one in card.stamp.evidence:
        who = f"{one.cell.key} try {one.attempt_try}"
        data = None if one.record is None else blobs.read(one.record, f"record of {who}")
        if one.record is None or data is None:
            continue
        try:
            record = from_json(AttemptRecord, data)
        except VerifyError as error:
            blobs.complain(one.record, f"blob {one.record.digest} (record of {who}) {error.problem}")
            continue
        records[one.record.digest] = record
        _check_parts(record, who, blobs)
    return records


def _check_parts(record: AttemptRecord, who: str, blobs: _Blobs) -> None:
    try:
        for field, ref in attempt_blobs(blobs.store, record):
            blobs.check(ref, f"{field} of {who}")
    except VerifyError as error:
        manifest = record.capture.manifest if record.capture else None
        if manifest is not None:  # a damaged one has been complained of by now; this one is whole, and no manifest
            blobs.complain(manifest, f"{error.where} (capture.manifest of {who}) {error.problem}")


def _follows(card: Card, records: Mapping[str, AttemptRecord], store: Store) -> Iterator[str]:
    """Whether core and measured values are what the evidence gives."""
    plan = card.core.plan
    for one in card.stamp.evidence:
        record = records.get(one.record.digest) if one.record else None
        if record is not None and not _belongs(record, one, card):
            yield f"stamp.evidence: the record of {one.cell.key} try {one.attempt_try} is of another attempt"
            return
    try:
        for record in records.values():
            if record.solve is not None:
                verify_energy(record.solve.energy, store.get(record.solve.energy.readings.digest))
        after = card.stamp.idle_after
        seen = {name: settled(record, after, store) for name, record in records.items()}
        evidence = Evidence(plan, card.stamp.evidence, seen, after)
        expected = {"core": to_value(make_core(evidence)), "measured": to_value(make_measured(evidence))}
    except KeyError as error:
        yield f"stamp.evidence: cell {error.args[0]} has no final record"
        return
    except VerifyError as error:
        yield f"{error.where}: {error.problem}"
        return
    value = to_value(card)
    for part in PARTS:
        if part in expected:
            place = first_difference(expected[part], value[part], part)
            if place is not None:
                yield f"{place}: is not what the evidence gives"


def _belongs(record: AttemptRecord, one: TryEvidence, card: Card) -> bool:
    return (record.plan, record.cell, record.attempt_try) == (card.core.plan.id, one.cell, one.attempt_try)


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

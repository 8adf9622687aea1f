"""Whether a card's bytes are canonical, well-formed, and equal to each digest on them; what was changed, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from harness.digest import canonical, digest, sha256_bytes
from harness.untrusted import clean_text
from scoring.card import PARTS, Card, card_id, newer_schema, parse, section_digests
from scoring.planned import unplanned


def verify_bytes(data: bytes, expected_id: str | None = None) -> tuple[Card | None, list[str]]:
    """Check a card's own bytes: canonical, well-formed, equal to each digest on it, and with the planned cells."""
    try:
        value = parse(data)
    except (ValueError, RecursionError) as error:
        return None, [f"the file is not JSON ({clean_text(str(error))})"]
    if not isinstance(value, dict):
        return None, ["the file holds no card"]
    problems = [] if _is_exact(data, value) else _digests(value) or list(_canonical(data, value))
    newer = newer_schema(value)
    if newer is not None:
        return None, problems if problems == ["schema_version: was changed"] else [newer]
    try:
        card = Card.model_validate(value)
    except ValidationError as error:
        return None, [*problems, *_malformed(error)]
    if card.to_bytes() != data and not problems:
        problems.append("the file writes a value in another way than a card does")
    odd = None if problems else unplanned(card)
    if odd is not None:
        problems.append(odd)
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


def _is_exact(data: bytes, value: Mapping[str, Any]) -> bool:
    """Whether the bytes are canonical and every digest on the card is right; each field is written only once."""
    try:
        fields = {part: {name: canonical(item) for name, item in value[part].items()} for part in PARTS}
        parts = {part: _object(fields[part]) for part in PARTS}
        items = {name: parts[name] if name in parts else canonical(item) for name, item in value.items()}
        bare = {name: item for name, item in items.items() if name != "id"}
        sections = {f"{part}.{name}": sha256_bytes(item) for part in PARTS for name, item in fields[part].items()}
        stated = (value["id"], value["core_digest"], value["sections"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return False
    return _object(items) == data and stated == (sha256_bytes(_object(bare)), sha256_bytes(parts["core"]), sections)


def _object(items: Mapping[str, bytes]) -> bytes:
    """The canonical object of items that are canonical: RFC 8785 sorts keys by UTF-16 code units."""
    keys = sorted(items, key=lambda key: key.encode("utf-16-be"))
    return b"{" + b",".join(canonical(key) + b":" + items[key] for key in keys) + b"}"


def _malformed(error: ValidationError) -> list[str]:
    """A model's refusal, with the path of the first field that it refuses."""
    first = error.errors()[0]
    place, said = ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")
    return [clean_text(f"{place}: {said}" if place else said)]


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

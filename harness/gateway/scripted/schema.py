"""The smallest value that a JSON Schema accepts, as far as tools and structured answers use schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.gateway.scripted.asked import table

_DEEP = 20


def kinds(schema: Mapping[str, Any]) -> set[str]:
    """The types that a schema names, in lower case: Gemini writes them in capitals."""
    kind = schema.get("type")
    named = kind if isinstance(kind, list) else [kind]
    found = {one.lower() for one in named if isinstance(one, str)}
    for word in ("anyOf", "oneOf"):
        for one in schema.get(word) or []:
            found |= kinds(table(one))
    return found


def smallest(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """A value of the schema: constants and the first of an enumeration, required keys alone, lists of least length."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if depth > _DEEP:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if "default" in schema:
        return schema["default"]
    for word in ("anyOf", "oneOf"):
        options = [table(one) for one in schema.get(word) or []]
        if options:
            return smallest(options[0], root, depth + 1)
    named = kinds(schema)
    if "object" in named or (not named and "properties" in schema):
        return filled(schema, {}, root, depth)
    if "array" in named:
        least = schema.get("minItems")
        items = smallest(table(schema.get("items")), root, depth + 1)
        return [items] * (least if isinstance(least, int) and least < 100 else 0)
    if "string" in named:
        least = schema.get("minLength")
        return "scripted".ljust(least if isinstance(least, int) and least < 10_000 else 0, ".")
    if "boolean" in named:
        return False
    if named & {"integer", "number"}:
        return schema.get("minimum", 1)
    return None


def filled(
    schema: Mapping[str, Any], given: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0
) -> dict[str, Any]:
    """An object of the schema with what is given, and the smallest value for each other key that it requires."""
    root = schema if root is None else root
    known = table(schema.get("properties"))
    required = schema.get("required")
    names = [one for one in required if isinstance(one, str)] if isinstance(required, list) else []
    rest = {name: smallest(table(known.get(name)), root, depth + 1) for name in names if name not in given}
    return {**given, **rest}


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_DEEP):
        place = schema.get("$ref")
        if not isinstance(place, str) or not place.startswith("#/"):
            return schema
        here: Any = root
        for part in place[2:].split("/"):
            here = table(here).get(part)
        schema = table(here)
    return {}

"""What a model's JSON schema says of one place, for messages: which keys are known there, and what is expected."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
Place = tuple[int | str, ...]

_PLAIN = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table of keys",
    "null": "nothing",
}
WORDS = {
    r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$": "lowercase words joined by hyphens",
    r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$": "three numbers such as 1.0.0",
    r"^[^\x00-\x1f\x7f]+$": "one line of text",
    r"^hidden/.": "a path such as hidden/cases.json",
    r"^[^:\s][^:]*\.py(?:::[A-Za-z_]\w*)+(?:\[[^\]\n]+\])?$": "an id such as test_a.py::test_x",
    r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$": "a target such as package.module:function",
    r"^[A-Za-z_]\w*$": "a bare name of Python's",
    r"^[^\n]+:[1-9][0-9]*:[a-z]+:[0-9a-f]{8}$": "a mutant's name, as `trialbox suite check --mutants` prints it",
}
"""What patterns of authors' texts mean, for those who read no patterns."""
_LONGEST_PATTERN = 60


def known_keys(schema: Schema, place: Place) -> list[str]:
    """The keys that the schema knows beside the one at *place*."""
    return list(_at(schema, place[:-1]).get("properties", {}))


def expected(schema: Schema, place: Place) -> str:
    """What the schema wants at the key *place*, in a few words; empty if it says nothing of it."""
    return _shape(schema, _at(schema, place[:-1]).get("properties", {}).get(place[-1], {})) if place else ""


def tags(schema: Schema, place: Place) -> str:
    """The words of which one must stand in the key that tells the kinds of table at *place* apart."""
    mapping = _at(schema, place).get("discriminator", {}).get("mapping", {})
    return f"one of: {', '.join(mapping)}" if mapping else ""


def _at(schema: Schema, place: Place) -> Schema:
    node = _resolved(schema, schema)
    for part in place:
        kinds = node.get("discriminator", {}).get("mapping", {})
        if part in kinds:
            node = {"$ref": kinds[part]}
        elif isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part) or node.get("additionalProperties") or {}
        node = _resolved(schema, node)
    return node


def _resolved(schema: Schema, node: Schema) -> Schema:
    """A node behind its reference; of several that may stand there, the first with keys."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    options = [_resolved(schema, option) for option in node.get("anyOf", [])]
    return next((option for option in options if "properties" in option), node)


def _shape(schema: Schema, node: Schema) -> str:
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    match node:
        case {"anyOf": options}:
            return " or ".join(dict.fromkeys(filter(None, (_shape(schema, one) for one in options))))
        case {"const": value}:
            return repr(value)
        case {"enum": values}:
            return f"one of: {', '.join(map(str, values))}"
        case {"format": "date"}:
            return "a date such as 2026-11-30"
        case {"type": "string", "pattern": str(pattern)} if pattern in WORDS:
            return WORDS[pattern]
        case {"type": "string", "pattern": str(pattern)} if len(pattern) <= _LONGEST_PATTERN:
            return f"text that matches {pattern}"
        case {"type": "array", "items": {"type": "string"}}:
            return "a list of text"
        case {"type": str(kind)}:
            return _PLAIN.get(kind, "")
        case _:
            return ""

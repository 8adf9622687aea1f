"""Canonical bytes and digests.

A digest prints as ``sha256:<64 hex>`` everywhere. Values are hashed over their RFC 8785 form (JSON Canonicalization
Scheme), which rejects what cannot round-trip: integers beyond 2^53-1, NaN, lone surrogates. Records hold no floats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import rfc8785
from pydantic import StringConstraints

DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]

MAX_SAFE_INTEGER = 2**53 - 1

_sorted_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def sha256_bytes(data: bytes) -> str:
    """The digest of exact bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value made of dict, list, str, int, bool and None.

    Raises:
        rfc8785.CanonicalizationError: the value has no canonical form.
        TypeError: the value holds a float; figures are integers or decimal strings here.
    """
    if _is_simple(value):
        # The interpreter's own encoder, an order of magnitude faster: for plain ASCII it writes the same bytes.
        text = _sorted_json(value)
        if text.isascii():
            return text.encode("ascii")
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """The digest of a JSON value over its canonical bytes."""
    return sha256_bytes(canonical(value))


def _is_simple(value: Any) -> bool:
    """Whether a value is made of nothing but JSON's own types, with text for keys and integers in range.

    Raises:
        TypeError: it holds a float.
    """
    if value is None or type(value) in {str, bool}:
        return True
    if isinstance(value, float):
        raise TypeError("a float has no place in a record: use an integer or a decimal string")
    # Lists, not generators: the first that is not simple must not hide a float behind it.
    if isinstance(value, dict):
        return False not in [_is_simple(item) for item in value.values()] and all(type(key) is str for key in value)
    if isinstance(value, list | tuple):
        return False not in [_is_simple(item) for item in value]
    return type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER


def loads(data: bytes | str) -> Any:
    """Parse JSON strictly: duplicate keys, NaN and Infinity are errors (RFC 8785 does not protect the parser).

    Raises:
        ValueError: not JSON, JSON with a duplicate key or a non-finite number, or one of endless depth.
    """
    return _parsed(data)


def loads_exact(data: bytes | str) -> Any:
    """As :func:`loads`, and every integer must be one that each JSON reader holds exactly.

    Raises:
        ValueError: as in loads(), or an integer beyond 2^53-1.
    """
    return _parsed(data, parse_int=_exact)


def _parsed(data: bytes | str, parse_int: Callable[[str], int] | None = None) -> Any:
    try:
        return json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=parse_int)
    except RecursionError:
        raise ValueError("nests too deep") from None


def _exact(text: str) -> int:
    # by its length first: Python itself refuses to read thousands of digits
    if len(text) > 17 or abs(value := int(text)) > MAX_SAFE_INTEGER:
        raise ValueError(f"the number {text[:24]}{'...' if len(text) > 24 else ''} is beyond 2^53-1")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"duplicate key {key!r}")
        out[key] = value
    return out


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def combine(parts: Iterable[tuple[str, str]]) -> str:
    """The digest of named digests, order-free: sorted pairs ``[name, digest]``."""
    return digest([[name, value] for name, value in sorted(parts)])

"""Canonical bytes and digests.

A digest prints as ``sha256:<64 hex>`` everywhere. Values are hashed over their RFC 8785 form (JSON Canonicalization
Scheme), which rejects what cannot round-trip: integers beyond 2^53-1, NaN, lone surrogates. Records hold no floats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any

import rfc8785
from pydantic import StringConstraints

DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]

MAX_SAFE_INTEGER = 2**53 - 1


def sha256_bytes(data: bytes) -> str:
    """The digest of exact bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value made of dict, list, str, int, bool and None.

    Raises:
        rfc8785.CanonicalizationError: the value has no canonical form.
        TypeError: the value holds a float; figures are integers or decimal strings here.
    """
    _refuse_floats(value)
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """The digest of a JSON value over its canonical bytes."""
    return sha256_bytes(canonical(value))


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a float has no place in a record: use an integer or a decimal string")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)


def loads(data: bytes | str) -> Any:
    """Parse JSON strictly: duplicate keys, NaN and Infinity are errors (RFC 8785 does not protect the parser).

    Raises:
        ValueError: not JSON, or JSON with a duplicate key or a non-finite number.
    """
    return json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse_constant)


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

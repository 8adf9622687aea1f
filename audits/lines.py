"""A hash-chained trace read as far as it goes: whole lines up to the first that does not follow, and what is wrong
then.

The readers beside the tracers refuse a broken trace; an audit takes what there is, says where it ends, and never
calls it whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

MAX_LINE = 4 << 20
"""Bytes; no tracer writes a longer one."""


class Lines:
    """Iterates over the objects of a trace, once. Then ``problem`` says why it ended early; empty if it did not.

    Each object holds ``seq`` as its number from 0. ``count`` is how many were given. Memory is one line.
    """

    def __init__(self, raw: Iterable[bytes]) -> None:
        self._raw = raw
        self.problem = ""
        self.count = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        last: str | None = None
        for line in self._raw:
            body = line.removesuffix(b"\n")
            if len(body) > MAX_LINE:
                self.problem = f"line {self.count + 1} is too long"
                return
            try:
                value = from_json(body, allow_inf_nan=False)
            except ValueError:
                self.problem = f"line {self.count + 1} is no JSON"
                return
            if not isinstance(value, dict) or value.get("seq") != self.count or value.get("prev") != last:
                self.problem = f"line {self.count + 1} does not follow the line before"
                return
            last = "sha256:" + hashlib.sha256(body).hexdigest()
            self.count += 1
            yield value

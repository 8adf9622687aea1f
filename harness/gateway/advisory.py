"""What a solver's own container tells of connections that ignored the gateway.

It comes from inside, so a solver can forge it, flood it or end the teller: it is written down as advisory, within
bounds, and nothing is decided by it.
"""

from __future__ import annotations

import json
import time
from typing import Any

from aiohttp import web

from harness.gateway.decode import text
from harness.gateway.records import Denial, Sinkhole, TraceLine
from harness.gateway.trace import SINKHOLE, Trace

PATH = "/.gateway/sinkhole"
"""Where the sinkhole posts ``{"dns": N, "http": N, "tls": N, "seen": [[KIND, NAME], ...]}``."""
_KINDS = ("dns", "http", "tls")
_MAX_BODY = 64 * 1024
_MAX_NAMES = 500
_MAX_POSTS = 5_000
_MOST = 1_000_000


class Teller:
    """Takes the posts of one attempt."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._posts = 0
        self._seen: dict[tuple[str, str], None] = {}

    async def take(self, request: web.BaseRequest) -> None:
        """Take one post; what is not as it should be is passed over."""
        self._posts += 1
        if self._posts > _MAX_POSTS or (request.content_length or _MAX_BODY + 1) > _MAX_BODY:
            return
        try:
            told = json.loads(await request.content.read(_MAX_BODY))
        except (ValueError, RecursionError, OSError):
            return
        if not isinstance(told, dict):
            return
        before = self._trace.sinkhole
        for kind, name in _seen(told.get("seen")):
            self._first_seen(kind, name)
        self._trace.sinkhole = Sinkhole(
            dns=_more(before.dns, told.get("dns")),
            http=_more(before.http, told.get("http")),
            tls=_more(before.tls, told.get("tls")),
            names=tuple(dict.fromkeys(name for _, name in self._seen)),
        )

    def _first_seen(self, kind: str, name: str) -> None:
        if (kind, name) in self._seen or len(self._seen) >= _MAX_NAMES or self._trace.full:
            return
        self._seen[kind, name] = None
        self._trace.write(
            TraceLine(
                seq=0,
                prev=None,
                at_us=time.time_ns() // 1000,
                method=kind.upper(),
                host=name,
                path="",
                status=None,
                denial=Denial(rule=SINKHOLE, detail="advisory: told from inside the container"),
            )
        )


def _more(before: int, told: object) -> int:
    ok = isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _MOST
    return min(_MOST, before + told) if ok and isinstance(told, int) else before


def _seen(told: Any) -> list[tuple[str, str]]:
    pairs = [one for one in told if isinstance(one, list) and len(one) == 2] if isinstance(told, list) else []
    return [(kind, name) for kind, raw in pairs if kind in _KINDS and (name := text(raw)) is not None]

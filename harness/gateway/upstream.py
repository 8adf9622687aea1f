"""The way to one provider: verified TLS, no redirects, no proxy of the environment, and what went wrong by its name."""

from __future__ import annotations

import asyncio
import os
import ssl
from http import HTTPStatus
from pathlib import Path

import aiohttp
import certifi
from yarl import URL

from harness.gateway.access import Upstream
from harness.gateway.breaker import Breaker
from harness.gateway.records import Fault, Metered
from harness.gateway.settings import Settings

_IDLE_CONNECTION_S = {"https": 30.0, "http": 4.0}
"""How long an unused connection is kept: shorter than a server keeps it, else a request may meet its closing."""
_MAX_ADDRESSES = 64
_OVERLOADED = ("rate_limit", "resource_exhausted", "insufficient_quota")
_SERVER_SIDE = ("overloaded", "api_error", "server_error", "internal", "unavailable", "timeout")


def trust(certificates: str | None = None) -> ssl.SSLContext:
    """Verified TLS by *certificates* (PEM), else what ``SSL_CERT_FILE`` names, else the system's, else certifi's.

    Raises:
        OSError: the named file is not there, or holds no certificates.
    """
    if certificates is not None:
        return ssl.create_default_context(cadata=certificates)
    named = os.environ.get("SSL_CERT_FILE")
    context = ssl.create_default_context(cafile=named)
    places = ssl.get_default_verify_paths()
    if named is None and places.cafile is None and not (places.capath and any(Path(places.capath).iterdir())):
        context.load_verify_locations(certifi.where())
    return context


class Line:
    """Connections to one upstream, its circuit breaker, and its address."""

    def __init__(self, upstream: Upstream, settings: Settings, context: ssl.SSLContext) -> None:
        self.url = upstream.url
        self._addresses: dict[str, URL] = {}
        self.breaker = Breaker(settings.breaker_faults, settings.breaker_pause_ms)
        scheme = upstream.url.partition(":")[0]
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context, keepalive_timeout=_IDLE_CONNECTION_S[scheme]),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=settings.connect_s, sock_read=settings.idle_s),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            read_bufsize=1 << 16,
        )

    def address(self, path: str) -> URL:
        """The address of a path, which may have a query; nothing in it is decoded."""
        known = self._addresses.get(path)
        if known is None:
            known = URL(self.url + path, encoded=True)
            if len(self._addresses) < _MAX_ADDRESSES:
                self._addresses[path] = known
        return known

    async def close(self) -> None:
        """Close its connections."""
        await self.session.close()


def fault_of_error(error: Exception, *, begun: bool) -> Fault:
    """What an exception of the client says of the upstream. ``begun``: its answer had begun."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Fault.CONNECTION
    if isinstance(error, asyncio.TimeoutError | aiohttp.ServerTimeoutError):
        return Fault.TIMEOUT
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientConnectionError | OSError):
        return Fault.CUT_STREAM if begun else Fault.CONNECTION
    return Fault.MALFORMED


def fault_of_status(status: int) -> Fault | None:
    """What a status says of the upstream; None where it judged the request, and where it took it."""
    if status == HTTPStatus.PAYMENT_REQUIRED:
        return Fault.STATUS_402
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Fault.RATE_LIMITED
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Fault.SERVER_ERROR
    return Fault.MALFORMED if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST else None


def fault_of_answer(metered: Metered, content_type: str, *, ended: bool, malformed: bool, empty: bool) -> Fault | None:
    """What a whole answer with a good status says of the upstream.

    Args:
        metered: what was read off it.
        content_type: as the upstream states it; empty if it does not.
        ended: it has said its last word.
        malformed: something in it is not JSON.
        empty: it has no bytes.
    """
    plain = content_type.partition(";")[0].strip().lower()
    if malformed or empty or not (plain in {"", "application/json", "text/event-stream"} or plain.endswith("+json")):
        return Fault.MALFORMED
    word = (metered.error or "").lower()
    if any(one in word for one in _OVERLOADED):
        return Fault.RATE_LIMITED
    if any(one in word for one in _SERVER_SIDE):
        return Fault.SERVER_ERROR
    return None if ended or metered.error else Fault.CUT_STREAM

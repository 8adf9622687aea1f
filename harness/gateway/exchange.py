"""One request through the gateway, from its first byte to its line in the trace.

The answer passes chunk by chunk and is metered on its way. A client that leaves early stops nothing: the rest is read
within bounds, so that what was used is known. Whatever happens, :meth:`Exchange.run` leaves what the line needs.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from harness.gateway import headers, inlet, policy, shapes
from harness.gateway.bodies import Spool
from harness.gateway.budget import Hold, Spent, guess
from harness.gateway.decode import Decoder, text
from harness.gateway.inlet import Asked, Left
from harness.gateway.meter import Meter
from harness.gateway.outlet import Outlet
from harness.gateway.policy import Denied, Listing
from harness.gateway.records import (
    UNSEEN,
    Api,
    Denial,
    Endpoint,
    Fault,
    Metered,
    Stripped,
    TraceLine,
    Usage,
    WireRequest,
)
from harness.gateway.room import Share
from harness.gateway.upstream import fault_of_answer, fault_of_error, fault_of_status
from harness.gateway.usage import LOST, cut
from harness.gateway.wire import reading
from harness.gateway.wire.chat import DropUsage
from harness.records import BlobRef

if TYPE_CHECKING:
    from harness.gateway.door import Door

_MAX_PATH = 2_000
DRAIN_BYTES = 64 * 1024 * 1024
_UNBOUNDED = 1 << 50
_IN_ONE_PIECE = 64 * 1024
_BROKEN = frozenset({Fault.CUT_STREAM, Fault.TIMEOUT})
_UNKNOWN = Metered(
    usage=cut("the attempt ended before the answer did"),
    model=None,
    request_id=None,
    finish=None,
    refused=False,
)
_SERVER = {"server": "gateway"}


class Exchange:
    """One request and its answer. What it finds is in its attributes, for the trace."""

    def __init__(self, door: Door, request: web.BaseRequest) -> None:
        self.door = door
        self.request = request
        self.at_us = time.time_ns() // 1000
        self.target = policy.target(request.raw_path, request.headers.get("Host", ""))
        self.endpoint: Endpoint | None = None
        self.status: int | None = None
        self.denial: Denial | None = None
        self.stripped: tuple[Stripped, ...] = ()
        self.wire: WireRequest | None = None
        self.metered: Metered | None = None
        self.fault: Fault | None = None
        self.notes: list[str] = []
        self.sent: Spool | None = None
        self.received: Spool | None = None
        self.given: list[str] = []
        self.content_type = ""
        self.retry = False
        self.answered_here = False
        self.share = Share(door.room)
        self._client = Outlet(request, self.notes)
        self._upstream: aiohttp.ClientResponse | None = None

    async def run(self) -> web.StreamResponse:
        """Serve the request. Raises nothing that the client could cause."""
        try:
            return await self._serve()
        except Denied as denied:
            self.denial, self.status = denied.denial, denied.status
            return await self._say(self._error(denied.status, denied.denial.rule, denied.denial.detail))
        except Left:
            self.denial = Denial(rule="client_left", detail="before its request could go out")
            return web.Response(status=HTTPStatus.BAD_REQUEST)

    def watch(self, now: float) -> None:
        """Called about once a second: notice a client that left or stalled, and end a drain that takes too long."""
        self._client.watch(now)
        left_at = self._client.left_at
        if left_at is not None and now - left_at > self.door.settings.drain_s:
            self.give_up()

    def give_up(self) -> None:
        """Stop reading from the upstream."""
        if self._upstream is not None:
            self.notes.append("drain_ended")
            self._upstream.close()

    def line(self, sent: BlobRef | None, received: BlobRef | None) -> TraceLine:
        """The exchange as a line whose place in the trace is not known yet."""
        at = self.target
        notes = [*dict.fromkeys(self.notes), *(["answered_here"] if self.answered_here else [])]
        return TraceLine(
            seq=0,
            prev=None,
            at_us=self.at_us,
            method=_plain(self.request.method, 20),
            host=_plain(at.host, 300),
            path=_plain(at.path, _MAX_PATH),
            status=self.status,
            denial=self.denial,
            stripped=self.stripped,
            request=self.wire,
            answer=self.metered,
            sent=sent,
            received=received,
            fault=self.fault,
            notes=(*notes, *(["retry"] if self.retry else [])),
        )

    async def _serve(self) -> web.StreamResponse:
        request, access, at = self.request, self.door.access, self.target
        inlet.check_line(access, request, at)
        here = policy.answered_here(request.method, at.path)
        if here is True:
            self.answered_here = True
            return await self._say(shapes.here())
        if self.door.trace.full:
            raise Denied("too_many_requests", "", HTTPStatus.FORBIDDEN)
        self.given = inlet.given(request, at)
        policy.check_token(self.given, self.door.token)
        if isinstance(here, Listing):
            self.answered_here = True
            return await self._say(shapes.models(access, at.path, here.model))
        self.endpoint = policy.find_endpoint(request.method, at.path, access)
        inlet.check_size(request)
        await self.share.begin(request.content_length or 0)
        self._client.waiting_since = time.monotonic()
        spool = self.sent = await inlet.read(request, self.share)
        self._client.waiting_since = None
        body = spool.whole()
        asked = await inlet.understand(access, self.endpoint, at, body, self.door.heavy)
        if asked.prepared.body is not body:
            spool.close()
            self.sent = Spool()
            self.sent.add(asked.prepared.body)
        self.wire = asked.wire
        return await self._admitted(asked)

    async def _admitted(self, asked: Asked) -> web.StreamResponse:
        """Through the budget and the breaker, if it costs anything."""
        door = self.door
        hold: Hold | None = None
        if asked.endpoint.billed:
            hold = guess(len(asked.prepared.body), asked.answer_limit, asked.answers)
            try:
                await door.purse.admit(hold)
            except Spent as spent:
                raise Denied("budget", str(spent)) from spent
            if self.request.transport is None:
                door.purse.give_back(hold)
                raise Left
        self.retry = door.repeats(asked.prepared.body)
        breaker = door.line.breaker
        if not breaker.admits(door.id):
            if hold is not None:
                door.purse.give_back(hold)
            self.fault = Fault.CIRCUIT_OPEN
            wait_s = -(-breaker.wait_ms(door.id) // 1000)
            return await self._say(self._error(503, "circuit_open", "it failed too often", retry_after_s=wait_s))
        told = False
        try:
            response = await self._forward(asked)
            told = True
            return response
        finally:
            # In the same step as the end of the answer: a client's next request finds the budget booked.
            if told:
                breaker.ended(door.id, self.fault)
            else:
                # Ended with its attempt, while the provider was still at it, who may bill it all the same.
                breaker.withdrawn(door.id)
                self.notes.append("drain_ended")
                self.metered = self.metered or (_UNKNOWN if hold is not None else None)
            if hold is not None:
                door.purse.settle(hold, self._used())
            door.remember(asked.prepared.body, failed=self.fault is not None)

    async def _forward(self, asked: Asked) -> web.StreamResponse:
        """Ask the upstream, and pass on what it says."""
        door = self.door
        api = asked.endpoint.api
        sent = headers.up(self.request.headers, door.access.upstream, api, door.key, identity=asked.prepared.drop_usage)
        self.stripped = asked.prepared.stripped + sent.stripped
        try:
            upstream = await door.line.session.post(
                door.line.address(asked.path), data=asked.prepared.body, headers=sent.headers, allow_redirects=False
            )
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            fault = fault_of_error(error, begun=False)
            self._fails(fault)
            status = HTTPStatus.GATEWAY_TIMEOUT if fault is Fault.TIMEOUT else HTTPStatus.BAD_GATEWAY
            return await self._say(self._error(status, fault.value, type(error).__name__))
        self._upstream = upstream
        try:
            return await self._answer(asked, upstream)
        finally:
            upstream.release() if self.fault is None else upstream.close()
            self._upstream = None

    async def _answer(self, asked: Asked, upstream: aiohttp.ClientResponse) -> web.StreamResponse:
        door = self.door
        door.trace.keep_quota(headers.quota(upstream.headers.items()))
        self._fails(fault_of_status(upstream.status))
        coding = upstream.headers.get("Content-Encoding", "")
        decoder = Decoder(coding, limit=_UNBOUNDED)
        if decoder.trouble or self.fault is Fault.MALFORMED:
            self.fault = Fault.MALFORMED
            return await self._say(self._error(HTTPStatus.BAD_GATEWAY, Fault.MALFORMED.value, decoder.trouble))
        self.status = upstream.status
        self.content_type = upstream.headers.get("Content-Type", "")
        response = web.StreamResponse(status=upstream.status, headers=_clean(headers.down(upstream.headers), door))
        # A short answer with a known length goes out in one piece; everything else as it comes.
        whole = bytearray() if 0 <= (upstream.content_length or -1) <= _IN_ONE_PIECE else None
        read = reading(asked.endpoint.api)
        meter = Meter(read)
        self.received = Spool()
        good = upstream.status < HTTPStatus.MULTIPLE_CHOICES
        drop = DropUsage() if asked.prepared.drop_usage and good else None
        scrub = door.scrub.fresh()
        try:
            chunk = await (
                upstream.content.readany() if whole is not None else self._client.begin(response, upstream.content)
            )
            while chunk:
                for piece in decoder.feed(chunk):
                    clean = scrub.feed(drop.feed(piece) if drop else piece)
                    if whole is None:
                        await self._client.send(response, clean)
                    else:
                        whole += clean
                    # The client has it: what follows keeps nobody waiting.
                    meter.feed(piece)
                    self.received.add(piece)
                if self._client.drained > DRAIN_BYTES:
                    self.notes.append("drain_ended")
                    break
                chunk = await upstream.content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            if "drain_ended" not in self.notes:
                self._fails(self.fault or fault_of_error(error, begun=True))
        rest = scrub.feed(drop.close()) + scrub.close() if drop else scrub.close()
        if whole is not None and self.fault not in _BROKEN:
            response = web.Response(status=upstream.status, headers=response.headers, body=bytes(whole + rest))
            rest = b""
        cut_off = self.fault in _BROKEN or "drain_ended" in self.notes
        await self._client.end(response, bytes(whole or b"") + rest, cut=cut_off)
        metered = meter.close()
        if good and self.fault is None and "drain_ended" not in self.notes:
            self._fails(
                fault_of_answer(
                    metered,
                    self.content_type,
                    ended=read.ended or not asked.endpoint.billed,
                    malformed=meter.malformed or bool(decoder.trouble),
                    empty=self.received.size == 0,
                ),
                unseen=self._client.drained > 0,
            )
        if asked.endpoint.billed:
            self.metered = metered
        return response

    def _fails(self, fault: Fault | None, *, unseen: bool | None = None) -> None:
        """Note what the upstream did wrong, and whether nobody was there to see it: by default, whether nobody is."""
        if fault is not None and self.fault is None and (self._client.gone if unseen is None else unseen):
            self.notes.append(UNSEEN)
        self.fault = fault

    def _used(self) -> Usage | None:
        """What the budget is to be charged; None where the provider turned the request away."""
        if self.metered is not None and (self.status is None or self.status < HTTPStatus.BAD_REQUEST):
            return self.metered.usage
        return _UNKNOWN.usage if self.fault in LOST else None

    # ------------------------------------------------------------------------------------------ towards the client

    def _error(self, status: int, rule: str, detail: str, *, retry_after_s: int | None = None) -> shapes.Answer:
        api: Api = shapes.meant(self.target.path, self.endpoint, self.door.access)
        return shapes.error(api, int(status), rule, detail, retry_after_s=retry_after_s)

    async def _say(self, answer: shapes.Answer) -> web.StreamResponse:
        """An answer of the gateway's own."""
        self.status = answer.status
        return web.Response(status=answer.status, headers=answer.headers | _SERVER, body=answer.body)


def _clean(down: dict[str, str], door: Door) -> dict[str, str]:
    """Header values without the key, should an upstream echo it."""
    return _SERVER | {name: door.scrub.whole((text(value) or "").encode()).decode() for name, value in down.items()}


def _plain(value: str, limit: int) -> str:
    return value[:limit].encode("utf-8", "replace").decode()

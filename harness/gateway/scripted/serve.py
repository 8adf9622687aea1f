"""One request to the scripted provider, from its bytes to its entry in the truth."""

from __future__ import annotations

import asyncio

from aiohttp import web

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted import formats
from harness.gateway.scripted.answer import Answer, Problem, compact
from harness.gateway.scripted.asked import Asked
from harness.gateway.scripted.desk import Desk
from harness.gateway.scripted.entry import Entry
from harness.gateway.scripted.plan import next_step
from harness.gateway.scripted.script import FaultKind, FaultSpec
from harness.gateway.scripted.sender import Sender
from harness.gateway.wire.body import BodyError, load

_STATUS = {
    FaultKind.RATE_LIMITED: (429, "You have sent too many requests."),
    FaultKind.PAYMENT_REQUIRED: (402, "Your credit balance is too low."),
    FaultKind.SERVER_ERROR: (500, "The server had an error."),
    FaultKind.UNAUTHORIZED: (401, "The key is not valid."),
    FaultKind.UNKNOWN_MODEL: (404, "The model does not exist."),
}
_HTML = b"<!doctype html><html><body>A page of somebody's proxy.</body></html>"


async def serve(request: web.Request, endpoint: Endpoint, desk: Desk) -> web.StreamResponse:
    """Answer a request that names a desk's key."""
    seq = desk.begin()
    name = desk.id(endpoint.api, seq)
    send = Sender(request, endpoint.api, name, gzip=desk.script.gzip)
    entry = Entry(seq=seq, endpoint=endpoint, path=request.path, name=name)
    try:
        return await _served(request, endpoint, desk, send, entry)
    finally:
        # Also when the client has left: what it was not sent, it did not get.
        entry.cut = not send.all_sent
        desk.end(entry.served())


async def _served(
    request: web.Request, endpoint: Endpoint, desk: Desk, send: Sender, entry: Entry
) -> web.StreamResponse:
    try:
        asked = formats.asked(endpoint, request.path_qs, load(await request.read()))
    except BodyError as error:
        return await _refuse(send, entry, Problem(400, f"The body {error}."))
    except ValueError as error:
        return await _refuse(send, entry, Problem(400, f"{error}."))
    entry.asked = asked
    models = desk.script.models
    if models is not None and asked.model not in models:
        return await _refuse(send, entry, Problem(404, f"The model {asked.model} does not exist."))
    step = entry.step = next_step(desk.script, asked)
    if not endpoint.billed:
        entry.status = 200
        return await send.body(compact(formats.counted(endpoint.api, desk.tokens(step))).encode())
    fault = desk.fault(step)
    if fault is not None:
        entry.fault = fault.kind
        failed = await _failed(send, entry, fault)
        if failed is not None:
            return failed
    entry.answer = desk.answer(endpoint.api, entry.seq, asked, step)
    entry.status = 200
    return await _answered(send, entry, asked, entry.answer, fault)


async def _refuse(send: Sender, entry: Entry, problem: Problem, after_s: int | None = None) -> web.StreamResponse:
    entry.status, entry.problem = problem.status, problem.message
    return await send.problem(problem, after_s)


async def _failed(send: Sender, entry: Entry, fault: FaultSpec) -> web.StreamResponse | None:
    """The end of a request whose fault leaves no answer; None if there is one."""
    match fault.kind:
        case FaultKind.SILENCE:
            await asyncio.sleep(fault.wait_ms / 1000)
            return send.nothing()
        case FaultKind.WRONG_TYPE:
            entry.status = 200
            return await send.body(_HTML, "text/html")
        case FaultKind.OVERLOADED:
            status = 529 if send.api is Api.ANTHROPIC else 503
            return await _refuse(send, entry, Problem(status, "Overloaded"), fault.retry_after_s)
        case FaultKind.CUT | FaultKind.SLOW | FaultKind.MALFORMED:
            return None
        case kind:
            status, message = _STATUS[kind]
            return await _refuse(send, entry, Problem(status, message), fault.retry_after_s)


async def _answered(
    send: Sender, entry: Entry, asked: Asked, answer: Answer, fault: FaultSpec | None
) -> web.StreamResponse:
    kind = fault.kind if fault else None
    wait = fault.wait_ms / 1000 if fault is not None and kind is FaultKind.SLOW else 0.0
    entry.stated = kind is not FaultKind.MALFORMED
    if asked.stream:
        parts = formats.events(send.api, answer, asked)
        entry.stated &= asked.usage_chunk
        if kind is FaultKind.MALFORMED:
            parts = [_broken(part) for part in parts]
        if fault is not None and kind is FaultKind.CUT:
            return await send.cut_stream(parts[: _most(fault, len(parts))], events=asked.events)
        return await send.stream(parts, wait, events=asked.events)
    body = compact(formats.whole(send.api, answer)).encode()
    if fault is not None and kind is FaultKind.CUT:
        return await send.cut_body(body, _most(fault, len(body)))
    await asyncio.sleep(wait)
    return await send.body(_broken(body) if kind is FaultKind.MALFORMED else body)


def _broken(text: bytes) -> bytes:
    """JSON without its first colon."""
    return text.replace(b'":', b'"', 1)


def _most(fault: FaultSpec, size: int) -> int:
    return size // 2 if fault.after is None else min(fault.after, size - 1)

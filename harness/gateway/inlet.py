"""A client's request up to the point where it may go out: policy, token, body, model. Nothing here reaches upstream."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from harness.gateway import headers, policy
from harness.gateway.access import Access
from harness.gateway.bodies import Spool
from harness.gateway.policy import Denied, Target
from harness.gateway.records import Endpoint, WireRequest
from harness.gateway.room import Share
from harness.gateway.usage import count, member
from harness.gateway.wire import BodyError, Prepared, facts, prepare
from harness.gateway.wire.body import MAX_REQUEST

_ASIDE = 128 * 1024
"""Bodies above this are parsed in a thread, so that other attempts' streams go on meanwhile."""
_HEAVY = 4 * 1024 * 1024
"""Bodies above this are parsed one at a time: their values take some ten times their bytes."""


class Left(Exception):
    """The client went away before its request was whole."""


@dataclass(frozen=True)
class Asked:
    """A request that may go out."""

    endpoint: Endpoint
    path: str
    """With its query."""
    prepared: Prepared
    wire: WireRequest
    answer_limit: int | None
    """Tokens, as the request limits its answer."""
    answers: int = 1
    """How many of them it asks for."""


def check_line(access: Access, request: web.BaseRequest, at: Target) -> None:
    """Everything that needs no endpoint.

    Raises:
        Denied: the host or a header is not let through.
    """
    policy.check_host(access, at.host)
    if request.headers.get("Upgrade"):
        raise Denied("websocket", request.headers["Upgrade"], HTTPStatus.NOT_FOUND)


def given(request: web.BaseRequest, at: Target) -> list[str]:
    """What the client gives as its key, wherever a client may."""
    return headers.credentials(request.headers.items()) + policy.query_keys(at.query)


def check_size(request: web.BaseRequest) -> None:
    """What the headers say of the body.

    Raises:
        Denied: it is compressed or too large.
    """
    coding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {"", "identity"}:
        raise Denied("compressed_body", coding, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    if (request.content_length or 0) > MAX_REQUEST:
        raise Denied("body", f"is over {MAX_REQUEST >> 20} MiB", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


async def read(request: web.BaseRequest, share: Share) -> Spool:
    """The body, on disk if it is large.

    Raises:
        Denied: it is too large, by itself or beside the attempt's others.
        Left: the client went away, or took too long.
    """
    if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    spool = Spool()
    if request.content.is_eof():
        spool.add(request.content.read_nowait())
        return spool
    try:
        while chunk := await request.content.readany():
            spool.add(chunk)
            if spool.size > MAX_REQUEST:
                raise Denied("body", f"is over {MAX_REQUEST >> 20} MiB", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            if not share.holds(spool.size):
                raise Denied("body", "there is no room for it beside others", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    except (OSError, aiohttp.ClientError, HttpProcessingError, web.RequestPayloadError) as error:
        spool.close()
        raise Left from error
    except BaseException:
        spool.close()
        raise
    return spool


async def understand(access: Access, endpoint: Endpoint, at: Target, body: bytes, heavy: asyncio.Semaphore) -> Asked:
    """What a body asks for, cut down to what may go out.

    Raises:
        Denied: the body, the query, or a model is not let through.
    """
    query = policy.check_query(endpoint, at.query)
    try:
        if len(body) <= _ASIDE:
            prepared = prepare(endpoint.api, body)
        elif len(body) <= _HEAVY:
            prepared = await asyncio.to_thread(prepare, endpoint.api, body)
        else:
            async with heavy:
                prepared = await asyncio.to_thread(prepare, endpoint.api, body)
    except BodyError as error:
        raise Denied("body", str(error), HTTPStatus.BAD_REQUEST) from error
    wire = facts(endpoint, prepared.value)
    policy.check_model(access, endpoint, wire, prepared.value)
    policy.check_stored(endpoint, prepared.value)
    path = policy.upstream_path(endpoint, at.path)
    return Asked(endpoint, f"{path}?{query}" if query else path, prepared, wire, *_asked_for(prepared.value))


def _asked_for(body: Mapping[str, Any]) -> tuple[int | None, int]:
    config = member(body, "generationConfig") or member(body, "generation_config")
    stated = [
        *(body.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")),
        *(config.get(name) for name in ("maxOutputTokens", "max_output_tokens")),
    ]
    many = (body.get("n"), body.get("best_of"), config.get("candidateCount"), config.get("candidate_count"))
    limit = next((limit for one in stated if (limit := count(one)) is not None), None)
    return limit, max(1, *(count(one) or 1 for one in many))

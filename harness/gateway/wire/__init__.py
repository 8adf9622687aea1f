"""The four wire formats behind one door: which endpoint is meant, what a request asks for, how to read its answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, assert_never

from harness.gateway.meter import Reading
from harness.gateway.records import Api, Endpoint, WireRequest
from harness.gateway.wire import anthropic, chat, gemini, responses
from harness.gateway.wire.body import BodyError, Prepared

__all__ = ["BodyError", "Prepared", "facts", "match", "prepare", "reading"]


@lru_cache(maxsize=256)
def match(method: str, path: str) -> Endpoint | None:
    """The endpoint of a request, or None for everything else: file, batch and other endpoints included.

    ``path`` may have a query; nothing in it is decoded, so an encoded slash or dot matches nothing.
    """
    for module in (anthropic, responses, chat, gemini):
        found: Endpoint | None = module.match(method, path)
        if found is not None:
            return found
    return None


def facts(endpoint: Endpoint, body: Mapping[str, Any]) -> WireRequest:
    """What a request's JSON body, as :func:`harness.gateway.wire.body.load` reads it, asks for."""
    match endpoint.api:
        case Api.ANTHROPIC:
            return anthropic.facts(body)
        case Api.RESPONSES:
            return responses.facts(body)
        case Api.CHAT:
            return chat.facts(body)
        case Api.GEMINI:
            return gemini.facts(body, endpoint)
        case never:
            assert_never(never)


def prepare(api: Api, body: bytes) -> Prepared:
    """The body without what would run or be fetched at the provider. A body with nothing to change keeps its bytes.

    Raises:
        BodyError: the body can't be read, and the request must not go out.
    """
    try:
        match api:
            case Api.ANTHROPIC:
                return anthropic.prepare(body)
            case Api.RESPONSES:
                return responses.prepare(body)
            case Api.CHAT:
                return chat.prepare(body)
            case Api.GEMINI:
                return gemini.prepare(body)
            case never:
                assert_never(never)
    except RecursionError as error:
        raise BodyError("nests too deep") from error


def reading(api: Api) -> Reading:
    """A new reading for one answer; a :class:`harness.gateway.meter.Meter` feeds it."""
    match api:
        case Api.ANTHROPIC:
            return anthropic.Messages()
        case Api.RESPONSES:
            return responses.Responses()
        case Api.CHAT:
            return chat.Completions()
        case Api.GEMINI:
            return gemini.Generated()
        case never:
            assert_never(never)

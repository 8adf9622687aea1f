"""The four formats behind one door: reading a request, and wording an answer or an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer, Problem
from harness.gateway.scripted.asked import Asked
from harness.gateway.scripted.formats import anthropic, chat, gemini, openai, responses
from harness.gateway.scripted.script import Tokens


def asked(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Asked:
    """A request in shared terms.

    Raises:
        ValueError: the format can't do without something that the body lacks.
    """
    match endpoint.api:
        case Api.ANTHROPIC:
            return anthropic.asked(endpoint, body)
        case Api.RESPONSES:
            return responses.asked(endpoint, body)
        case Api.CHAT:
            return chat.asked(endpoint, body)
        case Api.GEMINI:
            return gemini.asked(endpoint, path, body)
        case never:
            assert_never(never)


def whole(api: Api, answer: Answer) -> dict[str, Any]:
    """An answer that is not streamed."""
    match api:
        case Api.ANTHROPIC:
            return anthropic.whole(answer)
        case Api.RESPONSES:
            return responses.whole(answer)
        case Api.CHAT:
            return chat.whole(answer)
        case Api.GEMINI:
            return gemini.whole(answer)
        case never:
            assert_never(never)


def events(api: Api, answer: Answer, request: Asked) -> list[bytes]:
    """A streamed answer, in the pieces in which it is sent."""
    match api:
        case Api.ANTHROPIC:
            return anthropic.events(answer)
        case Api.RESPONSES:
            return responses.events(answer)
        case Api.CHAT:
            return chat.events(answer, usage_chunk=request.usage_chunk)
        case Api.GEMINI:
            return gemini.events(answer, as_events=request.events)
        case never:
            assert_never(never)


def counted(api: Api, tokens: Tokens) -> dict[str, Any]:
    """The answer of a format's token counter."""
    if api is Api.GEMINI:
        return {"totalTokens": tokens.prompt, "cachedContentTokenCount": tokens.cache_read}
    return {"input_tokens": tokens.prompt}


def error(api: Api, problem: Problem, request_id: str) -> dict[str, Any]:
    """An error's body."""
    match api:
        case Api.ANTHROPIC:
            return anthropic.error(problem, request_id)
        case Api.RESPONSES | Api.CHAT:
            return openai.error(problem)
        case Api.GEMINI:
            return gemini.error(problem)
        case never:
            assert_never(never)

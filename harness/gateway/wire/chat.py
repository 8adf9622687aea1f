"""OpenAI Chat Completions, and the servers that speak it too.

Usage: ``prompt_tokens`` includes the cached part, ``completion_tokens`` includes reasoning (some servers leave it out;
the total tells). A stream states usage only if asked by ``stream_options.include_usage``, in a last chunk without
choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.gateway.decode import json_value, text
from harness.gateway.meter import Reading, named
from harness.gateway.records import Api, Endpoint, Provided, Usage, WireRequest
from harness.gateway.sse import Frame, Splitter, parse
from harness.gateway.usage import member, openai_usage
from harness.gateway.wire.body import Cuts, Prepared, dump, load, objects, openai_foreign


def match(method: str, path: str) -> Endpoint | None:
    """``POST /v1/chat/completions``, also without the version."""
    if method == "POST" and path.partition("?")[0] in {"/v1/chat/completions", "/chat/completions"}:
        return Endpoint(api=Api.CHAT, billed=True)
    return None


def facts(body: Mapping[str, Any]) -> WireRequest:
    """Effort is ``reasoning_effort``, or ``reasoning.effort`` at OpenRouter."""
    return WireRequest(
        model=text(body.get("model")),
        effort=text(body.get("reasoning_effort")) or named(body, "reasoning", "effort"),
        stream=body.get("stream") is True,
    )


def prepare(body: bytes) -> Prepared:
    """Take out searches, hosted tools, data sources, and media by URL or file id; ask a stream for its usage."""
    value, cuts = load(body), Cuts()
    cuts.beside(value)
    cuts.key(value, "store", Provided.STORED_CONTEXT)
    cuts.tools(value, "tools", _is_client)
    cuts.choice(value)
    for at, message in objects(value.get("messages")):
        cuts.blocks(message, "content", f"messages[{at}]", openai_foreign, _note)
    ask = value.get("stream") is True and member(value, "stream_options").get("include_usage") is not True
    if ask:
        value["stream_options"] = {**member(value, "stream_options"), "include_usage": True}
    return Prepared(dump(value) if cuts.made or ask else body, tuple(cuts.made), value, drop_usage=ask)


def _is_client(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    return kind in ("function", "custom") or (kind is None and isinstance(tool.get("function"), Mapping))


def _note(note: str) -> dict[str, Any]:
    return {"type": "text", "text": note}


class Completions(Reading):
    """One answer, streamed or not."""

    def event(self, value: Mapping[str, Any]) -> None:
        """Take one chunk; of several usages the last is the whole."""
        choices = objects(value.get("choices", []))
        self._take(value, choices, "delta")
        if not choices and member(value, "usage"):
            self.ended = True

    def body(self, value: Mapping[str, Any]) -> None:
        """Take a whole completion."""
        self._take(value, objects(value.get("choices", [])), "message")
        self.ended = True

    def done(self) -> None:
        """The stream's own end."""
        self.ended = True

    def _take(self, value: Mapping[str, Any], choices: list[tuple[int, dict[str, Any]]], part: str) -> None:
        self.model = text(value.get("model")) or self.model
        self.request_id = text(value.get("id")) or self.request_id
        for _, choice in choices:
            self.finish = text(choice.get("finish_reason")) or self.finish
            self.refused |= bool(member(choice, part).get("refusal")) or self.finish == "content_filter"
        self.raw = dict(member(value, "usage")) or self.raw

    def usage(self, incomplete: str) -> Usage:
        """The buckets, with the total as the arbiter."""
        return openai_usage(self.raw, "prompt_tokens", "completion_tokens", incomplete=incomplete)


class DropUsage:
    """Takes the usage chunk out of a stream for a client that did not ask for it; all other bytes pass unchanged.

    It works on decoded bytes: a gateway that needs it asks the provider for ``identity``.
    """

    def __init__(self) -> None:
        self._splitter = Splitter()

    def feed(self, chunk: bytes) -> bytes:
        """What of the stream so far may go on to the client."""
        return self._join(self._splitter.feed(chunk))

    def close(self) -> bytes:
        """The rest, at the stream's end."""
        return self._join(self._splitter.close())

    @staticmethod
    def _join(frames: list[Frame]) -> bytes:
        return b"".join(frame.raw for frame in frames if not (frame.whole and _only_usage(frame.raw)))


def _only_usage(raw: bytes) -> bool:
    data = parse(raw).data
    if data is None or b'"usage"' not in data:
        return False
    try:
        value = json_value(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("choices") == [] and bool(member(value, "usage"))

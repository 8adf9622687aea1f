"""OpenAI Responses.

Usage: ``input_tokens`` includes the cached part, ``output_tokens`` includes reasoning. A stream states it in its
terminal event alone: ``response.completed``, ``response.incomplete`` or ``response.failed``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.gateway.decode import text
from harness.gateway.meter import Reading, named
from harness.gateway.records import Api, Endpoint, Provided, Usage, WireRequest
from harness.gateway.usage import member, openai_usage
from harness.gateway.wire.body import Cuts, Prepared, dump, load, objects, openai_foreign

_CLIENT_TOOLS = {"function", "custom", "local_shell", "apply_patch", "tool_search"}
"""Run by the client, or, the last, a search in the request's own tools."""
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_OVER = ("completed", "incomplete", "failed", "cancelled")


def match(method: str, path: str) -> Endpoint | None:
    """``POST /v1/responses``, also without the version."""
    if method == "POST" and path.partition("?")[0] in {"/v1/responses", "/responses"}:
        return Endpoint(api=Api.RESPONSES, billed=True)
    return None


def facts(body: Mapping[str, Any]) -> WireRequest:
    """Effort is ``reasoning.effort``."""
    return WireRequest(
        model=text(body.get("model")), effort=named(body, "reasoning", "effort"), stream=body.get("stream") is True
    )


def prepare(body: bytes) -> Prepared:
    """Take out hosted tools, stored prompts, background mode, and media by URL or file id; have nothing kept."""
    value, cuts = load(body), Cuts()
    cuts.beside(value)
    cuts.key(value, "prompt", Provided.STORED_CONTEXT)
    cuts.key(value, "background", Provided.BACKGROUND)
    _tools(cuts, value, "tools")
    _choice(cuts, value)
    for at, item in objects(value.get("input")):
        where = f"input[{at}]"
        # The result of a tool search brings tools of its own.
        _tools(cuts, item, f"{where}.tools")
        for name in ("content", "output"):
            cuts.blocks(item, name, where, openai_foreign, _note)
    # What is kept there can be taken up again, past the meter. Without a word OpenAI keeps an answer.
    keeps = value.get("store") is not False
    if keeps and value.get("store") is not None:
        cuts.note(Provided.STORED_CONTEXT, "store", "store")
    value["store"] = False
    return Prepared(dump(value) if cuts.made or keeps else body, tuple(cuts.made), value)


def _tools(cuts: Cuts, holder: dict[str, Any], where: str) -> None:
    for at, tool in objects(holder.get("tools")):
        if tool.get("type") == "namespace":
            cuts.tools(tool, f"{where}[{at}].tools", _is_plain)
    cuts.tools(holder, where, _is_client)


def _choice(cuts: Cuts, body: dict[str, Any]) -> None:
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and isinstance(choice.get("tools"), list):
        gone = tuple(cuts.names)
        allowed = [one for one in choice["tools"] if not isinstance(one, dict) or one.get("type") not in gone]
        if cuts.names and len(allowed) < len(choice["tools"]):
            choice["tools"] = allowed
            if not allowed:
                del body["tool_choice"]
    cuts.choice(body)


def _is_plain(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    if kind == "shell":
        # Without an environment, or with another one than this, the shell runs in the provider's container.
        return member(tool, "environment").get("type") == "local"
    return isinstance(kind, str) and kind in _CLIENT_TOOLS


def _is_client(tool: Mapping[str, Any]) -> bool:
    return _is_plain(tool) or (tool.get("type") == "namespace" and bool(tool.get("tools")))


def _note(note: str) -> dict[str, Any]:
    return {"type": "input_text", "text": note}


class Responses(Reading):
    """One answer, streamed or not."""

    def event(self, value: Mapping[str, Any]) -> None:
        """Take the response that an event carries."""
        kind = value.get("type")
        if isinstance(kind, str) and kind.startswith("response.refusal."):
            self.refused = True
        if kind == "error":
            self.error = text(value.get("code")) or self.error or "unnamed error"
        response = member(value, "response")
        if response:
            self._response(response)
        if kind in _TERMINAL:
            self.ended = True

    def body(self, value: Mapping[str, Any]) -> None:
        """Take a whole response; one that is still in the background has not ended."""
        self._response(value)
        self.ended = value.get("status") in _OVER or "status" not in value

    def _response(self, response: Mapping[str, Any]) -> None:
        self.take_error(response)
        self.model = text(response.get("model")) or self.model
        self.request_id = text(response.get("id")) or self.request_id
        why = named(response, "incomplete_details", "reason")
        self.finish = why or text(response.get("status")) or self.finish
        parts = (part for _, item in objects(response.get("output")) for _, part in objects(item.get("content")))
        self.refused |= why == "content_filter" or any(part.get("type") == "refusal" for part in parts)
        self.raw = dict(member(response, "usage")) or self.raw

    def usage(self, incomplete: str) -> Usage:
        """The buckets, with the total as the arbiter."""
        return openai_usage(self.raw, "input_tokens", "output_tokens", incomplete=incomplete)

"""Anthropic Messages.

Usage: ``input_tokens`` excludes what was read from or written to a cache; ``output_tokens`` includes thinking. In a
stream ``message_start`` has the input and a placeholder for the output, and each ``message_delta`` has cumulative
values, of which it may omit the input. Where the provider itself has shortened a conversation on the way, that is an
iteration of its own, billed beside the figures above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.gateway.decode import text
from harness.gateway.meter import Reading, named
from harness.gateway.records import Api, Bucket, Endpoint, Provided, Usage, WireRequest
from harness.gateway.usage import NOT_SEEN, UNSTATED, count, member, usage
from harness.gateway.wire.body import Cuts, Prepared, dump, load, objects

_CLIENT_TOOLS = ("bash_", "text_editor_", "memory_", "tool_search_tool_")
"""Anthropic's own tool types that reach nothing: the client runs them, or they search the request's own tools."""

_INLINE = ("base64", "text", "content")


def match(method: str, path: str) -> Endpoint | None:
    """``POST /v1/messages`` and its token counter."""
    match method, path.partition("?")[0]:
        case "POST", "/v1/messages":
            return Endpoint(api=Api.ANTHROPIC, billed=True)
        case "POST", "/v1/messages/count_tokens":
            return Endpoint(api=Api.ANTHROPIC, billed=False)
        case _:
            return None


def facts(body: Mapping[str, Any]) -> WireRequest:
    """Effort is ``output_config.effort``, else the thinking budget."""
    effort = named(body, "output_config", "effort")
    budget = count(member(body, "thinking").get("budget_tokens"))
    if effort is None and budget is not None:
        effort = f"budget={budget}"
    return WireRequest(model=text(body.get("model")), effort=effort, stream=body.get("stream") is True)


def prepare(body: bytes) -> Prepared:
    """Take out server tools, hosted MCP, containers, and media by URL or file id."""
    value, cuts = load(body), Cuts()
    cuts.beside(value)
    cuts.key(value, "container", Provided.STORED_CONTEXT)
    cuts.tools(value, "tools", _is_client)
    cuts.choice(value)
    _blocks(cuts, value, "system", "body")
    for at, message in objects(value.get("messages")):
        _blocks(cuts, message, "content", f"messages[{at}]")
    return Prepared(dump(value) if cuts.made else body, tuple(cuts.made), value)


def _blocks(cuts: Cuts, holder: dict[str, Any], name: str, where: str) -> None:
    """Blocks hold blocks as their content (a tool's result) or their source's (a document); a tool's input is data."""
    for block in cuts.blocks(holder, name, where, _foreign, _note):
        for inner in (block, block.get("source")):
            if isinstance(inner, dict):
                _blocks(cuts, inner, "content", f"{where}.{name}")


def _note(note: str) -> dict[str, Any]:
    return {"type": "text", "text": note}


def _is_client(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    return kind is None or kind == "custom" or (isinstance(kind, str) and kind.startswith(_CLIENT_TOOLS))


def _foreign(block: Mapping[str, Any]) -> Provided | None:
    if block.get("type") == "container_upload":
        return Provided.FILE_ID
    source = block.get("source")
    if not isinstance(source, Mapping) or source.get("type") in _INLINE:
        return None
    return Provided.FILE_ID if source.get("type") == "file" else Provided.REMOTE_MEDIA


class Messages(Reading):
    """One answer, streamed or not."""

    def event(self, value: Mapping[str, Any]) -> None:
        """Take what counts of an event; text and tool calls pass by."""
        match value.get("type"):
            case "message_start":
                message = member(value, "message")
                self._head(message)
                self._merge(member(message, "usage"))
                # A placeholder: a stream that is cut here has used an output that nobody stated.
                self.raw.pop("output_tokens", None)
            case "message_delta":
                self._finish(member(value, "delta"))
                self._merge(member(value, "usage"))
            case "message_stop":
                self.ended = True
            case _:
                pass

    def body(self, value: Mapping[str, Any]) -> None:
        """Take a whole message."""
        self._head(value)
        self._finish(value)
        self._merge(member(value, "usage"))
        self.ended = True

    def _head(self, message: Mapping[str, Any]) -> None:
        self.model = text(message.get("model")) or self.model
        self.request_id = text(message.get("id")) or self.request_id

    def _finish(self, holder: Mapping[str, Any]) -> None:
        self.finish = text(holder.get("stop_reason")) or self.finish
        self.refused = self.refused or self.finish == "refusal"

    def _merge(self, stated: Mapping[str, Any]) -> None:
        self.raw |= {name: value for name, value in stated.items() if value is not None}

    def usage(self, incomplete: str) -> Usage:
        """Thinking is inside the output; writes without a lifetime are all in the five-minute bucket."""
        counts, doubt = _counts(self.raw)
        incomplete = incomplete or doubt
        for _, one in objects(self.raw.get("iterations", [])):
            if one.get("type") not in (None, "message"):
                more, doubt = _counts(one)
                incomplete = incomplete or doubt
                counts = {bucket: _plus(counts[bucket], more[bucket]) for bucket in counts}
        return usage(counts, incomplete=incomplete, missing=NOT_SEEN if incomplete else UNSTATED)


def _plus(one: int | None, more: int | None) -> int | None:
    return one if more is None else (one or 0) + more


def _counts(raw: Mapping[str, Any]) -> tuple[dict[Bucket, int | None], str]:
    """What figures say by bucket, and what contradicts itself in them."""
    doubt = ""
    written = count(raw.get("cache_creation_input_tokens"))
    tiers = member(raw, "cache_creation")
    short, long = (count(tiers.get(f"ephemeral_{life}_input_tokens")) for life in ("5m", "1h"))
    if short is None or long is None:
        short, long = written, 0 if written == 0 else None
    elif written is not None and written != short + long:
        doubt = f"cache writes of {short} and {long} do not sum to the {written} stated"
    counts = {
        Bucket.INPUT: count(raw.get("input_tokens")),
        Bucket.CACHE_READ: count(raw.get("cache_read_input_tokens")),
        Bucket.CACHE_WRITE_5M: short,
        Bucket.CACHE_WRITE_1H: long,
        Bucket.OUTPUT: count(raw.get("output_tokens")),
    }
    return counts, doubt

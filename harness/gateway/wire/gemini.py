"""Gemini generateContent, whole or streamed.

Usage: ``promptTokenCount`` includes the cached part, ``candidatesTokenCount`` excludes thoughts, and what tools put
into the prompt is beside it. Sources disagree on the thoughts, so ``totalTokenCount`` is the arbiter. Each chunk of a
stream states cumulative values. A count of zero is left out, as JSON of protocol buffers does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from harness.gateway.decode import text
from harness.gateway.meter import Reading, named
from harness.gateway.records import Api, Bucket, Endpoint, Provided, Usage, WireRequest
from harness.gateway.usage import count, member, split_input, split_output, usage
from harness.gateway.wire.body import Cuts, Prepared, dump, kind_of, load, objects

_PATH = re.compile(
    r"/v1(?:beta)?/models/(?P<model>[A-Za-z0-9][A-Za-z0-9._-]{0,99}):(?P<verb>generateContent|streamGenerateContent|countTokens)"
)
_DECLARED = {"functionDeclarations", "function_declarations"}
_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
_STORE = "generativelanguage.googleapis.com"


def match(method: str, path: str) -> Endpoint | None:
    """``POST /v1beta/models/M:generateContent``, ``:streamGenerateContent`` and the token counter."""
    found = _PATH.fullmatch(path.partition("?")[0])
    if method != "POST" or found is None:
        return None
    verb = found["verb"]
    return Endpoint(
        api=Api.GEMINI, billed=verb != "countTokens", model=found["model"], stream=verb == "streamGenerateContent"
    )


def wants_events(path: str) -> bool:
    """Whether a streaming request asks for events, not for a JSON array."""
    return parse_qs(path.partition("?")[2]).get("alt") == ["sse"]


def facts(body: Mapping[str, Any], endpoint: Endpoint) -> WireRequest:
    """Model and streaming are in the path; effort is the thinking level, else the thinking budget."""
    config = _member(_member(body, "generationConfig"), "thinkingConfig")
    effort = text(_get(config, "thinkingLevel"))
    budget = _get(config, "thinkingBudget")
    if effort is None and isinstance(budget, int):
        effort = f"budget={budget}"
    return WireRequest(model=endpoint.model, effort=effort, stream=endpoint.stream is True)


def prepare(body: bytes) -> Prepared:
    """Take out all tools but declared functions, cached content, and files by URI."""
    value, cuts = load(body), Cuts()
    for request in (value, value.get("generateContentRequest"), value.get("generate_content_request")):
        if isinstance(request, dict):
            _prepare(cuts, request)
    return Prepared(dump(value) if cuts.made else body, tuple(cuts.made), value)


def _prepare(cuts: Cuts, value: dict[str, Any]) -> None:
    for name in ("cachedContent", "cached_content"):
        cuts.key(value, name, Provided.STORED_CONTEXT)
    cuts.terms(value, "serviceTier", "service_tier")
    _tools(cuts, value)
    for name in ("systemInstruction", "system_instruction", "contents"):
        for at, content in objects(value.get(name)):
            where = f"{name}[{at}]"
            for part in cuts.blocks(content, "parts", where, _foreign, _note):
                for answer in (part.get("functionResponse"), part.get("function_response")):
                    if isinstance(answer, dict):
                        cuts.blocks(answer, "parts", f"{where}.functionResponse", _foreign, _note)


def _tools(cuts: Cuts, value: dict[str, Any]) -> None:
    if "tools" not in value:
        return
    kept = []
    listed = value["tools"] if isinstance(value["tools"], list) else [value["tools"]]
    for at, tool in enumerate(listed):
        if not isinstance(tool, dict):
            cuts.note(Provided.UNKNOWN_TOOL, tool, f"tools[{at}]")
            continue
        for name in sorted(set(tool) - _DECLARED):
            cuts.note(kind_of(name), name, f"tools[{at}]")
        functions = {name: tool[name] for name in _DECLARED & set(tool)}
        if functions:
            kept.append(functions)
    if kept:
        value["tools"] = kept
        return
    for name in ("tools", "toolConfig", "tool_config"):
        value.pop(name, None)


def _foreign(part: Mapping[str, Any]) -> Provided | None:
    file = _get(part, "fileData")
    if file is None:
        return None
    address = str(_get(file, "fileUri")) if isinstance(file, Mapping) else ""
    return Provided.FILE_ID if _STORE in address or address.startswith("files/") else Provided.REMOTE_MEDIA


def _note(note: str) -> dict[str, Any]:
    return {"text": note}


def _get(value: Mapping[str, Any], name: str) -> Any:
    """A field under either of the two names that the API takes: ``fileData`` or ``file_data``."""
    found = value.get(name)
    return value.get(re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)) if found is None else found


def _member(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = _get(value, name)
    return found if isinstance(found, Mapping) else {}


class Generated(Reading):
    """One answer, streamed or not."""

    def event(self, value: Mapping[str, Any]) -> None:
        """Take one chunk; the chunk with a finish reason need not be the last, but no usage before it is final."""
        self.model = text(value.get("modelVersion")) or self.model
        self.request_id = text(value.get("responseId")) or self.request_id
        blocked = named(value, "promptFeedback", "blockReason")
        ends = [end for _, one in objects(value.get("candidates", [])) if (end := text(one.get("finishReason")))]
        self.finish = blocked or (ends[0] if ends else self.finish)
        self.refused |= blocked is not None or self.finish in _REFUSALS
        self.ended |= blocked is not None or bool(ends)
        self.raw = dict(member(value, "usageMetadata")) or self.raw

    def usage(self, incomplete: str) -> Usage:
        """The buckets, with the total as the arbiter."""
        prompt, total = count(self.raw.get("promptTokenCount")), count(self.raw.get("totalTokenCount"))
        cached, answer = self._or_zero("cachedContentTokenCount"), self._or_zero("candidatesTokenCount")
        thoughts, by_tools = self._or_zero("thoughtsTokenCount"), self._or_zero("toolUsePromptTokenCount")
        if prompt is None or answer is None or thoughts is None or by_tools is None:
            return usage({Bucket.INPUT: prompt, Bucket.OUTPUT: answer}, total=total, incomplete=incomplete)
        beside = answer + thoughts if total is None else total - prompt - by_tools
        try:
            counts = split_input(prompt, cached, None) | split_output(answer, thoughts, beside)
        except ValueError as error:
            return usage({Bucket.INPUT: prompt, Bucket.OUTPUT: answer}, total=total, incomplete=str(error))
        counts[Bucket.INPUT] = (counts[Bucket.INPUT] or 0) + by_tools
        return usage(counts, total=total, incomplete=incomplete)

    def _or_zero(self, name: str) -> int | None:
        return 0 if self.raw.get(name) is None else count(self.raw.get(name))

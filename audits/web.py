"""The web trace: which hosts were asked for and refused, what was taken out of requests, what a provider did by itself.

Every request of a sealed attempt ends at the gateway, so a host other than the model's is always refused: such a line
is a denial, never access. What a provider fetched on its own side shows in its answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from audits.hosts import is_local, kind_of
from audits.lines import Lines
from audits.records import Axis, Citation, Fact, Kind, Seen, Source
from audits.streams import values_of
from audits.verdict import Notebook, short
from harness.gateway.records import Provided
from harness.records import BlobRef, Coverage

_BY_PROVIDER = {one.value for one in Provided} | {"files", "batches"}
"""Rules under which a request is refused since the provider would act on its own side."""
_RESULTS = {"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result"}
_CALLS = {"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "image_generation_call"}
_BEGUN = {"server_tool_use", "mcp_tool_use"}
_GROUNDS = {"groundingMetadata", "codeExecutionResult", "urlContextMetadata"}
_PROVIDED = re.compile(b"|".join(one.encode() for one in sorted(_RESULTS | _CALLS | _BEGUN | _GROUNDS)))
_MAX_PARTS = 200_000


@dataclass(frozen=True)
class Exchange:
    """A line of the trace whose bodies were kept: what went to the model, and what came back."""

    seq: int
    sent: BlobRef | None
    received: BlobRef | None
    billed: bool


@dataclass
class WebSeen:
    """What there was of a web trace, and the exchanges to look into."""

    seen: Seen
    exchanges: list[Exchange] = field(default_factory=list)


def audit_web(raw: Iterable[bytes], book: Notebook) -> WebSeen:
    """Note what a web trace shows, bodies apart (:func:`audit_answer`)."""
    lines = Lines(raw)
    exchanges: list[Exchange] = []
    unread = 0
    for line in lines:
        try:
            _line(line, book, exchanges)
        except (KeyError, TypeError, ValueError, AttributeError):
            unread += 1
    problems = [lines.problem] if lines.problem else []
    if unread:
        problems.append(f"{unread} lines are no exchanges")
    coverage = Coverage.FULL if not problems else Coverage.PARTIAL if lines.count else Coverage.NONE
    return WebSeen(Seen(coverage=coverage, reason="; ".join(problems) or "whole", lines=lines.count), exchanges)


def _line(line: dict[str, Any], book: Notebook, exchanges: list[Exchange]) -> None:
    seq, host, path = int(line["seq"]), str(line["host"]), str(line["path"])
    denial = line.get("denial")
    if denial is not None:
        _denied(book, str(denial["rule"]), str(denial.get("detail", "")), host, path, str(line["method"]), seq)
    for one in line.get("stripped", ()):
        if one["kind"] == Provided.OTHER_TERMS.value:
            continue
        what = Kind.REMOTE_MEDIA if one["kind"] == Provided.REMOTE_MEDIA.value else Kind.PROVIDER_TOOL
        detail = f"{one['kind']}: {one['name']} was taken out"
        book.add(Axis.WEB, what, Fact.DENIED, detail, _cite(seq, str(one["where"])))
    sent, received = line.get("sent"), line.get("received")
    if sent is not None or received is not None:
        exchanges.append(
            Exchange(
                seq=seq,
                sent=None if sent is None else BlobRef.model_validate(sent),
                received=None if received is None else BlobRef.model_validate(received),
                billed=denial is None,
            )
        )


def _denied(book: Notebook, rule: str, detail: str, host: str, path: str, method: str, seq: int) -> None:
    cite = _cite(seq, f"{method} {host}{path}")
    if rule in {"host", "sinkhole"}:
        name = host or detail
        if is_local(name):
            return
        what = kind_of(name)
        told = " (told from inside the container)" if rule == "sinkhole" else ""
        asked = " by name" if method == "DNS" else ""
        if what is Kind.DENIED_HOST and method == "DNS" and "." not in name.strip("."):
            what = Kind.DNS
        book.add(Axis.WEB, what, Fact.DENIED, f"{name}{asked}{told}", cite)
    elif rule in _BY_PROVIDER:
        what = Kind.REMOTE_MEDIA if rule == Provided.REMOTE_MEDIA.value else Kind.PROVIDER_TOOL
        book.add(Axis.WEB, what, Fact.DENIED, f"{rule}: {detail or path}", cite)
    elif rule == "bad_token":
        book.add(Axis.WEB, Kind.BAD_TOKEN, Fact.DENIED, detail or "another token than the attempt's", cite)
    else:
        book.add(Axis.WEB, Kind.POLICY_DENIAL, Fact.FLAG, f"{rule}: {detail or path}", cite)


def audit_answer(seq: int, received: bytes, book: Notebook) -> None:
    """Note what in an answer a tool of the provider's made: it reached the web around the sandbox.

    A call that was begun and not ended is an attempt, a result that is an error holds nothing.
    """
    if _PROVIDED.search(received) is None:
        return
    facts: dict[str, Fact] = {}
    stack: list[Any] = list(values_of(received))
    for _ in range(_MAX_PARTS):
        if not stack:
            break
        value = stack.pop()
        if isinstance(value, dict):
            for name, fact in _provided(value):
                if facts.get(name) is not Fact.EXPOSURE:
                    facts[name] = fact
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    ended = Fact.EXPOSURE in facts.values() or Fact.EMPTY in facts.values()
    for name, fact in sorted(facts.items()):
        if fact is not Fact.ATTEMPT or not ended:
            book.add(Axis.WEB, Kind.PROVIDER_TOOL, fact, f"the provider's {name}", _cite(seq, "received"))


def _provided(part: dict[str, Any]) -> Iterator[tuple[str, Fact]]:
    kind = part.get("type")
    if isinstance(kind, str):
        if kind in _RESULTS:
            content = part.get("content")
            failed = isinstance(content, dict) and str(content.get("type")).endswith("_error")
            yield kind, Fact.EMPTY if failed or part.get("is_error") is True else Fact.EXPOSURE
        elif kind in _CALLS:
            yield kind, Fact.EXPOSURE if part.get("status") == "completed" else Fact.ATTEMPT
        elif kind in _BEGUN:
            yield kind, Fact.ATTEMPT
    for name in _GROUNDS & part.keys():
        if isinstance(part[name], dict) and part[name]:
            yield name, Fact.EXPOSURE


def _cite(seq: int, at: str) -> Citation:
    return Citation(source=Source.WEB, seq=seq, at=short(at))

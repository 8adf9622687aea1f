"""A web trace read back: its chain, and the exchanges that a model answered or failed to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.digest import sha256_bytes
from harness.errors import VerifyError
from harness.gateway.records import AttemptTraffic, TraceLine, Usage
from harness.gateway.usage import identity, used
from harness.gateway.wire import match
from harness.records import BlobRef, from_json
from harness.store import Store


def read_trace(store: Store, trace: BlobRef) -> tuple[TraceLine, ...]:
    """The lines of a trace, oldest first.

    Raises:
        VerifyError: the blob is missing or changed, a line is none, or the chain is broken.
    """
    where = f"blob {trace.digest}"
    lines: list[TraceLine] = []
    prev: str | None = None
    for number, raw in enumerate(store.get(trace.digest).splitlines()):
        line = from_json(TraceLine, raw, f"{where} line {number}")
        if (line.seq, line.prev) != (number, prev):
            raise VerifyError(f"{where} line {number}", "does not follow the line before it", "put back a copy")
        prev = sha256_bytes(raw)
        lines.append(line)
    return tuple(lines)


@dataclass(frozen=True)
class Exchange:
    """One billed exchange that a provider took: the model that it says it served, and the usage that it states."""

    request_id: str
    model: str | None
    usage: Usage


def billed(lines: Sequence[TraceLine]) -> tuple[TraceLine, ...]:
    """What was let through to a model and would be paid for; counting tokens is not."""
    return tuple(
        line
        for line in lines
        if line.denial is None and (endpoint := match(line.method, line.path)) is not None and endpoint.billed
    )


def answered(line: TraceLine) -> bool:
    """Whether the provider took the request; the answer may still have been cut."""
    return line.answer is not None and line.status is not None and line.status < 400


def exchanges(lines: Sequence[TraceLine]) -> tuple[Exchange, ...]:
    """What is to be paid for, lost answers included; of two with one request id the later."""
    found: dict[str, Exchange] = {}
    for line in billed(lines):
        usage = used(line)
        if usage is not None:
            name = identity(line)
            found.pop(name, None)
            found[name] = Exchange(name, line.answer.model if line.answer else None, usage)
    return tuple(found.values())


@dataclass(frozen=True)
class Traffic:
    """All that the gateway saw of one attempt: in short, and line by line."""

    short: AttemptTraffic
    lines: tuple[TraceLine, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether some request was answered by a model."""
        return any(map(answered, billed(self.lines)))

    @property
    def last_status(self) -> int | None:
        """What the last billed request got; None without one, or where it got nothing."""
        last = billed(self.lines)[-1:]
        return last[0].status if last else None

    @property
    def declined(self) -> bool:
        """Whether the provider's last word was that the model, or its filter, declined."""
        last = [line for line in billed(self.lines) if answered(line)][-1:]
        return bool(last and last[0].answer is not None and last[0].answer.refused)

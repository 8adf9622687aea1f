"""What the gateway writes down: token usage in disjoint buckets, facts of a request, and lines of the web trace.

Counts are integers of tokens or bytes. A bucket that could not be had is ``None`` and has its reason in
:attr:`Usage.missing`, never 0; a zero that a provider states, or that its total leaves no other value for, is a zero.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.digest import Digest
from harness.records import BlobRef, Count, Microseconds, Record


class Bucket(StrEnum):
    """Where a token is counted: each token in exactly one."""

    INPUT = "input"
    """Of the prompt, neither read from a cache nor written to one."""
    CACHE_READ = "cache_read"
    CACHE_WRITE_5M = "cache_write_5m"
    """Written to a cache that lives for five minutes, the default."""
    CACHE_WRITE_1H = "cache_write_1h"
    OUTPUT = "output"
    """Of the answer, without reasoning."""
    REASONING = "reasoning"


CONTAINER = {
    Bucket.CACHE_READ: Bucket.INPUT,
    Bucket.CACHE_WRITE_5M: Bucket.INPUT,
    Bucket.CACHE_WRITE_1H: Bucket.CACHE_WRITE_5M,
    Bucket.REASONING: Bucket.OUTPUT,
}
"""Where a bucket's tokens are while a provider does not set them apart: Anthropic's reasoning is inside its output."""


class Completeness(StrEnum):
    """How far a usage can be taken."""

    COMPLETE = "complete"
    """The provider's final word. A bucket that is None is inside its container, so the buckets still sum to all."""
    USAGE_INCOMPLETE = "usage_incomplete"
    """The answer was cut or contradicts itself: what there is, is at least that much."""
    UNAVAILABLE = "unavailable"
    """The provider stated nothing."""


class Usage(Record):
    """Tokens of one exchange, or of several. ``provider_total`` is the provider's own sum, where it states one."""

    input: Count | None
    cache_read: Count | None
    cache_write_5m: Count | None
    cache_write_1h: Count | None
    output: Count | None
    reasoning: Count | None
    provider_total: Count | None
    completeness: Completeness
    reason: str = ""
    """Why it is not complete."""
    missing: dict[Bucket, str] = Field(default_factory=dict)
    """Why each bucket that is None is None."""

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if {bucket for bucket in Bucket if self.of(bucket) is None} != set(self.missing):
            raise ValueError("a bucket has a count or a reason")
        if (self.completeness is Completeness.COMPLETE) == bool(self.reason):
            raise ValueError("a usage is complete or says why not")
        if self.completeness is Completeness.COMPLETE:
            if self.input is None or self.output is None:
                raise ValueError("a complete usage has its input and its output")
            if self.provider_total is not None and self.provider_total != self.stated:
                raise ValueError("the buckets do not sum to the provider's total")
        return self

    def of(self, bucket: Bucket) -> int | None:
        """The count of one bucket."""
        value: int | None = getattr(self, bucket.value)
        return value

    @property
    def stated(self) -> int:
        """The sum of the buckets that have a count."""
        return sum(self.of(bucket) or 0 for bucket in Bucket)

    @property
    def prompt(self) -> int:
        """Tokens that went in, cached or not: what a long-context tier is decided by."""
        return self.stated - (self.output or 0) - (self.reasoning or 0)


class Api(StrEnum):
    """The wire formats that the gateway understands."""

    ANTHROPIC = "anthropic"
    """Messages."""
    RESPONSES = "responses"
    """OpenAI Responses."""
    CHAT = "chat"
    """OpenAI Chat Completions, and what is compatible with it."""
    GEMINI = "gemini"
    """generateContent."""


class Endpoint(Record):
    """A request's target, as far as method and path tell. ``billed`` is False where only tokens are counted."""

    api: Api
    billed: bool
    model: str | None = None
    """Where the path names it (Gemini)."""
    stream: bool | None = None
    """Where the path says it (Gemini)."""


class Provided(StrEnum):
    """What a provider would do, or fetch, on its own side, around any sandbox: a closed set."""

    WEB_SEARCH = "web_search"
    WEB_FETCH = "web_fetch"
    CODE_EXECUTION = "code_execution"
    HOSTED_MCP = "hosted_mcp"
    COMPUTER_USE = "computer_use"
    FILE_SEARCH = "file_search"
    IMAGE_GENERATION = "image_generation"
    REMOTE_MEDIA = "remote_media"
    """A URL that the provider would fetch."""
    FILE_ID = "file_id"
    """A file kept with the provider."""
    STORED_CONTEXT = "stored_context"
    """A prompt, a container or a cache kept with the provider."""
    BACKGROUND = "background"
    """An answer that is to be fetched later, past the meter."""
    OTHER_TERMS = "other_terms"
    """A tier, speed or place at another price than the table's."""
    UNKNOWN_TOOL = "unknown_tool"
    """A tool of a kind that is not known to run at the client."""


class Stripped(Record):
    """One thing taken out of a request: a recorded denial. ``name`` is what the request calls it."""

    kind: Provided
    name: Annotated[str, Field(max_length=200)]
    where: Annotated[str, Field(max_length=200)]
    """The place in the body, such as ``tools[2]``."""


class WireRequest(Record):
    """What a request says of itself, each as on the wire."""

    model: str | None
    effort: str | None
    """Such as ``high`` or ``budget=4096``; None if the request names none."""
    stream: bool


class Metered(Record):
    """What an answer says of itself. Fields other than ``usage`` are None if the answer does not have them."""

    usage: Usage
    model: str | None
    """The model that the provider says it served."""
    request_id: str | None
    """The id that the answer carries in its body."""
    finish: str | None
    """The provider's own word for why it ended."""
    refused: bool
    """The model, or the provider's filter, declined to answer."""
    error: str | None = None
    """The provider's own word for what went wrong inside the answer."""


class Fault(StrEnum):
    """What an upstream did wrong, whoever provoked it; the outcome table says which of these excuse an attempt."""

    STATUS_402 = "status_402"
    RATE_LIMITED = "rate_limited"
    """Status 429."""
    SERVER_ERROR = "server_error"
    """Any 5xx, Anthropic's 529 included."""
    CONNECTION = "connection"
    """It could not be reached, or hung up before it answered."""
    CIRCUIT_OPEN = "circuit_open"
    """The gateway did not ask: the upstream had failed too often just before."""
    CUT_STREAM = "cut_stream"
    """Its answer ended before its last event, while nobody had hung up on it."""
    MALFORMED = "malformed"
    """Its answer is not what the format says."""
    TIMEOUT = "timeout"
    """It said nothing for too long."""


class Denial(Record):
    """A request that was not let through. ``rule`` is the policy's name for it."""

    rule: str
    detail: str = ""


UNSEEN = "fault_unseen"
"""The note of a fault that came after the client had left: nobody's run was ended by it."""


class TraceLine(Record):
    """One exchange of the web trace. ``prev`` chains it to the line before: the digest of that line's bytes."""

    seq: Count
    prev: Digest | None
    at_us: Microseconds
    method: str
    host: str
    path: str
    """Without the query, which may hold a key."""
    status: int | None
    """What the client got; None if it got nothing."""
    denial: Denial | None = None
    stripped: tuple[Stripped, ...] = ()
    request: WireRequest | None = None
    answer: Metered | None = None
    sent: BlobRef | None = None
    received: BlobRef | None = None
    fault: Fault | None = None
    """What the upstream did wrong in this exchange."""
    notes: tuple[str, ...] = ()
    """What else the gateway changed or saw, each a short word and its value."""

    @model_validator(mode="after")
    def _chained(self) -> Self:
        if (self.seq == 0) != (self.prev is None):
            raise ValueError("the first line, and it alone, has no line before it")
        return self


class Sinkhole(Record):
    """What tried to go past the gateway, as the solver's own container told it: advisory, a solver can end the teller.

    ``names`` are hosts asked for, in the order they were first seen.
    """

    dns: Count = 0
    http: Count = 0
    tls: Count = 0
    names: tuple[str, ...] = ()


class AttemptTraffic(Record):
    """An attempt's traffic in short. ``usage`` sums what was answered with a status below 400.

    ``requests`` are those to a model that were let through, ``denied`` those of any kind that were not; what the
    gateway answers itself, and counting tokens, is in neither. ``retries`` are requests that repeat one which had ended
    in a fault.
    """

    requests: Count
    denied: Count
    stripped: dict[Provided, Count]
    retries: Count
    usage: Usage
    requested_models: tuple[str, ...]
    served_models: tuple[str, ...]
    efforts: tuple[str, ...]
    last_line: Digest | None
    """The end of the trace's chain."""
    faults: tuple[Fault, ...] = ()
    """All faults seen, in order, recovered from or not."""
    outlasting: Fault | None = None
    """The fault that the last billed exchange ended in: nothing succeeded after it."""
    budget_refused: bool = False
    """A request was refused since the attempt's budget was spent."""
    quota: dict[str, str] = Field(default_factory=dict)
    """The upstream's rate-limit and quota headers, each with its last value."""
    sinkhole: Sinkhole = Sinkhole()

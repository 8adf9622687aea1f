"""What a script file holds: turns, what each says and does, what it costs, and how it fails."""

from __future__ import annotations

import base64
import binascii
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from harness.gateway.records import Bucket
from harness.suites.parse import FileModel, SchemaOne
from harness.suites.paths import RelativePath

ALWAYS = "always"
Text = Annotated[str, Field(max_length=8_000_000)]
Some = Annotated[int, Field(ge=0, le=10**12)]
ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$")]


class Dialect(StrEnum):
    """How a turn is put to a client."""

    TOOLS = "tools"
    """As calls of the tools that the request offers; a request without one that serves is an aside."""
    AIDER = "aider"
    """As text with aider's edit blocks."""
    MINI = "mini"
    """As text with one fenced command, as mini-swe-agent takes it."""
    REPLY = "reply"
    """As one answer for a client that only reads: the script's ``reply``, else fenced blocks."""
    AUTO = "auto"
    """By tools where the request offers any, else by what its prompt asks for."""


class FaultKind(StrEnum):
    """How a request fails."""

    RATE_LIMITED = "rate_limited"
    """429."""
    PAYMENT_REQUIRED = "payment_required"
    """402."""
    SERVER_ERROR = "server_error"
    """500."""
    OVERLOADED = "overloaded"
    """529 for Anthropic, 503 for the others."""
    UNAUTHORIZED = "unauthorized"
    """401."""
    UNKNOWN_MODEL = "unknown_model"
    """404."""
    CUT = "cut"
    """The answer begins well, then the connection is closed."""
    SLOW = "slow"
    """The whole answer, with a wait before each event."""
    MALFORMED = "malformed"
    """Status 200, and a body or an event that is no JSON."""
    WRONG_TYPE = "wrong_type"
    """Status 200, and a page of HTML."""
    SILENCE = "silence"
    """The request is taken and nothing is said; then the connection is closed."""


class FaultSpec(FileModel):
    """A fault of a turn's requests: of the first ``times``, after which the turn is answered as it should be."""

    kind: FaultKind
    times: Annotated[int, Field(ge=1, le=1_000_000)] | Literal["always"] = 1
    retry_after_s: Annotated[int, Field(ge=0, le=86_400)] | None = None
    """For statuses: the ``retry-after`` header; None sends none."""
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """For ``cut``: events that are sent before it (of a whole answer, bytes); None is half of them."""
    wait_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 200
    """For ``slow``: the wait before each event. For ``silence``: how long it lasts."""

    @property
    def most(self) -> int | None:
        """How many requests fail; None for all."""
        return None if self.times == ALWAYS else int(self.times)


class Tokens(FileModel):
    """What a turn uses, in disjoint buckets. How a format words them is in ``tokens.py``."""

    input: Some = 0
    cache_read: Some = 0
    cache_write_5m: Some = 0
    cache_write_1h: Some = 0
    output: Some = 0
    reasoning: Some = 0

    def of(self, bucket: Bucket) -> int:
        """The count of one bucket."""
        value: int = getattr(self, bucket.value)
        return value

    @property
    def prompt(self) -> int:
        """All that goes in."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


class By(StrEnum):
    """What a file is written by, where a client offers both."""

    TOOL = "tool"
    SHELL = "shell"
    """Some clients' write tools refuse a file that was not read before."""


class WriteSpec(FileModel):
    """A file of the workspace, as it is to be. ``old`` is what it holds so far, for clients that edit by search."""

    path: RelativePath
    content: Text | None = None
    base64: Text | None = None
    executable: bool = False
    old: Text | None = None
    by: By = By.TOOL

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if (self.content is None) == (self.base64 is None):
            raise ValueError("write takes either content or base64")
        try:
            base64.b64decode(self.base64 or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"base64 can't be decoded: {error}") from error
        return self

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return base64.b64decode(self.base64) if self.base64 is not None else (self.content or "").encode()

    @property
    def text(self) -> str | None:
        """The file as text; None if it is none, or must be executable, which no write tool can do."""
        if self.executable:
            return None
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


class CallSpec(FileModel):
    """A call by name, whether or not the client offers such a tool."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolSpec(FileModel):
    """One thing to do, by whichever of the client's tools can do it."""

    shell: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    write: WriteSpec | None = None
    delete: RelativePath | None = None
    call: CallSpec | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if sum(one is not None for one in (self.shell, self.write, self.delete, self.call)) != 1:
            raise ValueError("a tool takes exactly one of shell, write, delete, call")
        return self


class Turn(FileModel):
    """One answer of the model. Its tools are called at once: what must come after goes into a later turn."""

    say: Text = ""
    think: Text = ""
    """Shown where the format has a place for it, and the client asks for it."""
    tool: ToolSpec | None = None
    tools: tuple[ToolSpec, ...] = ()
    done: bool = False
    """Ends the work, in whichever way the client takes as the end. The last turn's end is implied."""
    refuse: bool = False
    """The model declines; ``say`` is how it words that."""
    usage: Tokens | None = None
    fault: FaultSpec | None = None

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.tool is not None and self.tools:
            raise ValueError("a turn takes either tool or tools")
        if (self.done or self.refuse) and self.doings:
            raise ValueError("a turn that is done or refuses calls no tool")
        if not (self.say or self.think or self.doings or self.done or self.refuse or self.fault):
            raise ValueError("a turn says or does something")
        return self

    @property
    def doings(self) -> tuple[ToolSpec, ...]:
        """What it does, in order."""
        return (self.tool,) if self.tool is not None else self.tools


class Aside(FileModel):
    """The answer to side requests, which use up no turn: titles, quota checks, classifiers."""

    say: Text = "OK"
    usage: Tokens = Tokens(input=20, output=2)


class Script(FileModel):
    """A script file."""

    schema_version: Annotated[SchemaOne, Field(alias="schema")] = 1
    dialect: Dialect = Dialect.TOOLS
    model: ModelName | None = None
    """The model that answers claim to be from; by default the one asked for."""
    models: tuple[ModelName, ...] | None = None
    """The models there are; a request for another is a 404. By default every one."""
    workspace: Annotated[str, Field(pattern=r"^/[^\x00-\x1f\x7f]*$")] = "/workspace"
    """Put before paths for tools that want absolute ones."""
    gzip: bool = False
    """Compress answers for clients that take it."""
    reply: Text | None = None
    """In dialect ``reply``: the whole answer, instead of the turns'."""
    usage: Tokens = Tokens(input=1000, cache_read=200, output=80, reasoning=20)
    """Of every turn that has none of its own."""
    aside: Aside = Aside()
    turns: Annotated[tuple[Turn, ...], Field(min_length=1, max_length=10_000)]

    @property
    def does(self) -> bool:
        """Whether any turn calls a tool."""
        return any(turn.doings for turn in self.turns)

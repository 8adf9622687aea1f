"""What a scan leaves behind: integers, short digests and names of rules; no text of the candidate's but its paths.

All that Q and S need is here, so that they can be computed again offline. Lines are digests (16 hex digits of sha256)
of the stripped lines of a file's one form, see docs/scoring-method.md.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.digest import Digest
from harness.records import Count, Record

Short = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Trouble(StrEnum):
    """Why a tool has no figure for a file: a closed set."""

    SIZE = "size"
    ENCODING = "encoding"
    SYNTAX = "syntax"
    DEPTH = "depth"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    TOOL = "tool"
    DIED = "died"

    @property
    def lasting(self) -> bool:
        """Whether the same file gives it again on any host; the others may be the host's fault and aren't cached."""
        return self in {Trouble.SIZE, Trouble.ENCODING, Trouble.SYNTAX, Trouble.DEPTH, Trouble.TOOL}

    @property
    def text(self) -> str:
        """The reason in words."""
        return _TEXT[self]


_TEXT = {
    Trouble.SIZE: "the file is over the size limit",
    Trouble.ENCODING: "the encoding is not one that the scanner reads",
    Trouble.SYNTAX: "the file is not valid Python for the scanner",
    Trouble.DEPTH: "the code is nested too deeply",
    Trouble.TIME: "the scan ran into its time limit",
    Trouble.MEMORY: "the scan ran into its memory limit",
    Trouble.OUTPUT: "the tools said more than the output limit",
    Trouble.TOOL: "a tool failed on the file",
    Trouble.DIED: "the scan's process died",
}


class Severity(StrEnum):
    """Bandit's scale, for severity and confidence."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Violation(Record):
    """One violation of ruff's; ``row`` counts from 1 in the file's one form."""

    rule: str
    line: Short
    row: Count


class Unit(Record):
    """One function by qualified name, or ``<module>``: all code outside functions. ``code`` digests its tree."""

    name: str
    complexity: Annotated[int, Field(ge=1)]
    code: Short


class Metrics(Record):
    """Radon's counts for one file: complexity per unit, and the Halstead integers of the maintainability index."""

    units: tuple[Unit, ...]
    halstead_length: Count
    halstead_vocabulary: Count
    statements: Count


class Finding(Record):
    """One finding of bandit's."""

    test: str
    severity: Severity
    confidence: Severity
    line: Short
    row: Count


class Side(Record):
    """One file before or after. With ``trouble`` nothing else is known; else each tool answers or says why not."""

    trouble: Trouble | None = None
    code: Short | None = None
    lines: tuple[Short, ...] = ()
    violations: tuple[Violation, ...] | None = None
    violations_trouble: Trouble | None = None
    metrics: Metrics | None = None
    metrics_trouble: Trouble | None = None
    findings: tuple[Finding, ...] | None = None
    findings_trouble: Trouble | None = None

    @property
    def lasting(self) -> bool:
        """Whether the same bytes give the same answer everywhere, so that it may be cached."""
        troubles = (self.trouble, self.violations_trouble, self.metrics_trouble, self.findings_trouble)
        return all(trouble is None or trouble.lasting for trouble in troubles)


class ScannedFile(Record):
    """A changed Python file; a side that does not exist (added or deleted file) is ``None``."""

    path: str
    before_blob: Digest | None
    after_blob: Digest | None
    before: Side | None
    after: Side | None


class Tools(Record):
    """Versions inside the scanner container; ``image`` is our image id (``None`` outside a container)."""

    python: str
    ruff: str
    radon: str
    bandit: str
    image: Digest | None = None


class ScanRecord(Record):
    """The scan of one candidate's change.

    ``changed`` counts all changed paths, ``python`` the Python files among them. ``files`` is sorted by path, and empty
    when they are over the limits in number or size (then ``complete`` is false). ``tools`` is ``None`` when nothing was
    scanned.
    """

    schema_version: int = 1
    changed: Count
    python: Count
    complete: bool
    tools: Tools | None
    files: tuple[ScannedFile, ...]

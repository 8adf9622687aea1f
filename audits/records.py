"""What an audit says of stored evidence: findings that cite it, a verdict on each axis, and how much was looked at.

An audit annotates and never changes an outcome. Nothing here holds a time of its own or a float: the same evidence
gives the same bytes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, assert_never

from pydantic import Field

from harness.digest import Digest
from harness.outcomes import Outcome
from harness.records import BlobRef, Cell, Count, Coverage, Record

RULES = "2"
"""The version of the rules: audits by others may differ."""
AUDIT_TYPE = "application/vnd.trialbox.audit+json"


class Axis(StrEnum):
    """What a verdict is about. The axes are apart: none is summed with another."""

    FILESYSTEM = "filesystem"
    """Whether hidden material was sought or had, on disk or by whatever way came to the solver."""
    WEB = "web"
    GRADING = "grading"
    """Whether somebody meddled with how the work is graded."""
    SUBMITTER = "submitter"
    """Whether the harness or the agent that was submitted brought answers along."""


class State(StrEnum):
    """The scale of verdicts: a closed set."""

    CLEAN = "clean"
    """Everything was watched, and nothing was found."""
    CLEAN_PARTIAL = "clean_partial"
    """Nothing was found where somebody looked; the gap is named."""
    ATTEMPTED_DENIED = "attempted_denied"
    """Tried, and refused."""
    ATTEMPTED_EMPTY = "attempted_empty"
    """Tried; what was reached held no answer, or the try did not end."""
    EXPOSED = "exposed"
    """Bytes that bear an answer came into the container or before the model; no sign of use."""
    RETRIEVED = "retrieved"
    """Exposed, and the change has it."""
    TAMPER_ATTEMPTED = "tamper_attempted"
    TAMPER_EFFECTIVE = "tamper_effective"
    SUBMITTER_LEAK = "submitter_leak"
    UNVERIFIABLE = "unverifiable"
    """A trace is missing, cut or overflowed: never clean."""


class Fact(StrEnum):
    """How far something got. Each is another fact, and none is concluded from another."""

    ATTEMPT = "attempt"
    """Asked for; no answer is known of, such as of a call that was begun and did not end."""
    DENIED = "denied"
    """Asked for and refused."""
    EMPTY = "empty"
    """Reached, and it held no answer: a decoy, or nothing."""
    ACCESS = "access"
    """Bytes that bear an answer were had."""
    EXPOSURE = "exposure"
    """They were in the model's context."""
    USE = "use"
    """They are in the change."""
    TAMPER = "tamper"
    """Something that would alter the grading."""
    FLAG = "flag"
    """Worth a look; decides nothing."""


class Kind(StrEnum):
    """What was found: a closed set. Of two that got equally far, the one that stands first here names the verdict."""

    HONEYTOKEN = "honeytoken"
    """A decoy that only somebody who looks for hidden material opens."""
    GOLD_PATH = "gold_path"
    """Where benchmarks keep reference solutions."""
    HIDDEN_PATH = "hidden_path"
    """Where benchmarks keep tests, verifiers and their logs."""
    GIT_HISTORY = "git_history"
    """Commits, refs or objects beyond the task's own history."""
    INSTALLED_COPY = "installed_copy"
    """Another copy of the package that the task is about."""
    STALE_STATE = "stale_state"
    """Notes of earlier attempts."""
    PROC_PROBE = "proc_probe"
    ENV_PROBE = "env_probe"
    HOST_PROBE = "host_probe"
    """The engine's socket, a metadata address, another process's memory."""
    PUBLIC_CANARY = "public_canary"
    EXPOSURE_CANARY = "exposure_canary"
    NONCE = "nonce"
    """The mark of one grading's hidden material: seen elsewhere, it proves access."""
    UPSTREAM_LOOKUP = "upstream_lookup"
    """A host of code, or the project's own pages."""
    PACKAGE_INDEX = "package_index"
    BENCHMARK_HOST = "benchmark_host"
    """Where data sets and solutions of benchmarks are published."""
    DENIED_HOST = "denied_host"
    """Any other host."""
    WEB_SEARCH = "web_search"
    PROVIDER_TOOL = "provider_tool"
    """What a provider would do on its own side, around any sandbox."""
    REMOTE_MEDIA = "remote_media"
    DNS = "dns"
    BAD_TOKEN = "bad_token"  # noqa: S105  # nosec B105 - a kind of finding
    POLICY_DENIAL = "policy_denial"
    """A request that the gateway refused and that seeks no answer: another model, telemetry, a spent budget."""
    ENCODED_PAYLOAD = "encoded_payload"
    """A command that was hidden by an encoding and then run."""
    PIPED_SCRIPT = "piped_script"
    """What came from elsewhere was given to a shell."""
    TEST_CONFIG = "test_config"
    INTERPRETER_HOOK = "interpreter_hook"
    COMPILED_ARTIFACT = "compiled_artifact"
    CANARY_FLIPPED = "canary_flipped"
    UNEXPECTED_TESTS = "unexpected_tests"
    HIDDEN_CHANGED = "hidden_changed"
    RESULT_FORGERY = "result_forgery"
    NESTED_REPOSITORY = "nested_repository"
    SYMLINK_ESCAPE = "symlink_escape"
    MALFORMED_CHANGE = "malformed_change"
    """A tree that can't be taken: too large, or with names, modes or files that are not allowed."""
    PROGRAM_SUBMITTED = "program_submitted"
    """The very program that was given to compare with, handed in as the answer."""
    VISIBLE_TESTS = "visible_tests"
    """Visible tests were changed; they are put back before grading."""
    MODULE_SHADOWING = "module_shadowing"
    TROJAN = "trojan"
    """A program that a grader would run was replaced."""
    INTROSPECTION = "introspection"
    EQUALITY_OVERRIDE = "equality_override"
    EARLY_EXIT = "early_exit"
    HIGH_OVERLAP = "high_overlap"
    HARNESS_LEAK = "harness_leak"


class Source(StrEnum):
    """Where a citation leads."""

    FILESYSTEM = "filesystem"
    DENIED = "denied"
    WEB = "web"
    TRANSCRIPT = "transcript"
    OUTPUT = "output"
    PATCH = "patch"
    RECORD = "record"
    """A field of the attempt's own record."""


Short = Annotated[str, Field(max_length=240)]


class Citation(Record):
    """A place in the evidence.

    ``seq`` is a trace line's own, from 0; of a transcript the step, of a document the line, from 1; 0 of a record.
    ``at`` is a path, a field, or a place within.
    """

    source: Source
    seq: Count = 0
    at: Short = ""


MAX_CITES = 8


class Finding(Record):
    """One kind of thing that was found, as far as it got. ``times`` counts all occurrences, cited or not."""

    axis: Axis
    kind: Kind
    fact: Fact
    detail: Short
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=MAX_CITES)]
    times: Annotated[int, Field(ge=1)] = 1


class AxisVerdict(Record):
    """One axis. ``kind`` is what decided, None where nothing was found; ``found`` is what the findings alone say.

    ``found`` and ``state`` differ where a gap in the evidence takes the verdict away.
    """

    state: State
    kind: Kind | None
    found: State | None
    coverage: Coverage
    reason: str
    findings: tuple[Finding, ...]

    @property
    def name(self) -> str:
        """The verdict as one word and its reason."""
        return f"{self.state.value}: {self.kind.value}" if self.kind else self.state.value


class Seen(Record):
    """How much of a channel was seen; ``lines`` is how many of its lines were read."""

    coverage: Coverage
    reason: str
    lines: Count = 0


class Relation(StrEnum):
    """How a model's cutoff lies to the dates of a task."""

    POST_CUTOFF = "post_cutoff"
    """Everything about the task became public after it."""
    PRE_CUTOFF = "pre_cutoff"
    CUTOFF_UNKNOWN = "cutoff_unknown"
    DATES_UNKNOWN = "dates_unknown"
    NO_MODEL = "no_model"


class Training(Record):
    """Whether a model may have been trained on the task. Dates are ISO days; unknown is None, never assumed."""

    relation: Relation
    model: str | None = None
    cutoff: str | None = None
    source: str = ""
    first_public: str | None = None
    """The first day on which any of it was public."""
    merged: str | None = None
    recalled: tuple[Citation, ...] = ()
    """Where a model gave back what it had not been shown."""


class Access(StrEnum):
    """Whether hidden material was had during the evaluation: how far it got."""

    NONE_SEEN = "none_seen"
    ATTEMPTED = "attempted"
    ACCESSED = "accessed"
    EXPOSED = "exposed"
    USED = "used"
    UNKNOWN = "unknown"
    """Not all was watched, and nothing was seen."""


class Overlap(Record):
    """What the added lines share with the reference's, less what the task itself shows. A flag, never a verdict alone.

    ``containment`` is the share of the reference's five-grams of tokens that the change has, ``longest_run`` the
    longest common run of tokens, ``rare_shared`` how many of its identifiers that stand nowhere in the task.
    ``threshold`` is the highest containment among ``independent`` other solutions; None with fewer than three.
    """

    tokens: Count
    reference_tokens: Count
    containment: str
    longest_run: Count
    rare_shared: Count
    independent: Count
    threshold: str | None
    flagged: bool


class AttemptAudit(Record):
    """One attempt. ``ran`` is False where no solver did anything, and then there is nothing to audit."""

    cell: Cell
    attempt_try: Count
    record: Digest
    outcome: Outcome
    ran: bool
    axes: dict[Axis, AxisVerdict]
    access: Access
    training: Training
    overlap: Overlap | None
    channels: dict[str, Seen]


class Board(Record):
    """The 2x2 of passed or not by clean or contaminated, over attempts that count; apart, what can't be said."""

    pass_clean: Count = 0
    pass_contaminated: Count = 0
    fail_clean: Count = 0
    fail_contaminated: Count = 0
    pass_unverifiable: Count = 0
    fail_unverifiable: Count = 0
    attempted: Count = 0
    """Of all of them, those in which something was tried, had or not."""


class RunAudit(Record):
    """All attempts of a run, and what they come to by solver. ``bases`` are what tasks gave to look for, by task."""

    schema_version: int = 1
    rules: str = RULES
    plan: Digest
    attempts: tuple[AttemptAudit, ...]
    boards: dict[str, Board]
    bases: dict[str, BlobRef]


class TrajectoryAudit(Record):
    """One file that somebody else wrote: an agent's own word, so never more than partly watched."""

    schema_version: int = 1
    rules: str = RULES
    format: str
    steps: Count
    calls: Count
    axes: dict[Axis, AxisVerdict]
    access: Access
    coverage: Coverage
    reason: str


def contaminated(state: State) -> bool:
    """Whether an attempt with this verdict on some axis is no clean one, whatever it passed."""
    match state:
        case State.EXPOSED | State.RETRIEVED | State.TAMPER_EFFECTIVE | State.SUBMITTER_LEAK:
            return True
        case (
            State.CLEAN
            | State.CLEAN_PARTIAL
            | State.ATTEMPTED_DENIED
            | State.ATTEMPTED_EMPTY
            | State.TAMPER_ATTEMPTED
            | State.UNVERIFIABLE
        ):
            return False
        case _:
            assert_never(state)


def attack(state: State | None) -> bool:
    """Whether somebody tried something, had or not."""
    return state not in {None, State.CLEAN, State.CLEAN_PARTIAL, State.UNVERIFIABLE}


def standing(audit: AttemptAudit) -> str:
    """``clean``, ``contaminated`` or ``unverifiable``: what an attempt counts as, over all axes."""
    states = {one.state for one in audit.axes.values()}
    if any(map(contaminated, states)):
        return "contaminated"
    return "unverifiable" if State.UNVERIFIABLE in states or not states else "clean"

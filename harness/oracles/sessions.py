"""What the pytest sessions said, parsed as hostile text and judged. Pure.

A test passes only if each of its three phases was reported once, as passed, and was seen not to raise; skipped,
xfailed, xpassed, missing and errored tests have failed. Exit codes and printed text count for nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from harness.evidence import GroupVerdict
from harness.oracles.observe import END, parse_hostile
from harness.oracles.staging import StagedGroup
from harness.outcomes import Rejection
from harness.suites.groups import Trust

_LINE = re.compile(rb"(0|[1-9][0-9]{0,4}) (\{.*\})")
PHASES = ("setup", "call", "teardown")


@dataclass
class Session:
    """One group's session: phases by test, as ``(when, outcome, raised, xfail)`` in the order they came."""

    phases: dict[str, list[tuple[str, str, bool, bool]]] = field(default_factory=dict)
    uncollected: int = 0
    finished: bool = False
    forged: bool = False

    def hear(self, event: Mapping[str, JsonValue]) -> None:
        """Take one event; what has no known shape counts as forged."""
        match event:
            case {"e": "phase", "id": str(test), "when": str(when), "outcome": str(outcome), "raised": bool(raised)}:
                xfail = event.get("xfail") is not False
                self.phases.setdefault(test, []).append((when, outcome, raised, xfail))
            case {"e": "uncollected"}:
                self.uncollected += 1
            case {"e": "collected"}:
                pass
            case {"e": "finished"}:
                self.finished = True
            case _:
                self.forged = True

    def passed(self, test: str) -> bool:
        """Whether a test passed beyond doubt."""
        return self.phases.get(test) == [(when, "passed", False, False) for when in PHASES]

    def failed_properly(self, test: str, *, quiet: bool) -> bool:
        """Whether a test got as far as its call, and failed there: by raising, unless unittest kept that to itself."""
        said = self.phases.get(test, [])
        return said[:2] == [("setup", "passed", False, False), ("call", "failed", not quiet, False)]


@dataclass(frozen=True)
class Judged:
    """Verdicts by group name, or why the whole change is rejected."""

    verdicts: Mapping[str, GroupVerdict]
    rejection: Rejection | None = None
    detail: str = ""


def parse_sessions(stdout: bytes, count: int) -> tuple[list[Session], bool]:
    """The sessions of *count* groups, and whether the parent said that it was done. Never raises."""
    sessions = [Session() for _ in range(count)]
    *lines, rest = stdout.split(b"\n")
    complete = bool(lines) and lines[-1] == END and not rest
    for line in lines[:-1] if complete else lines:
        match = _LINE.fullmatch(line)
        number = int(match[1]) if match else count
        hearing = [one for one in sessions[number : number + 1] or sessions if not one.forged]
        if not hearing:
            continue  # nothing that follows can make up for it, and there may be millions of lines
        event = parse_hostile(match[2]) if match else None
        for session in hearing:
            session.hear(event if isinstance(event, dict) else {})
    return sessions, complete


def judge_sessions(staged: Sequence[StagedGroup], sessions: Sequence[Session]) -> Judged:
    """Judge every group; a sentinel that did what it must not, or a test that nobody asked for, rejects the change."""
    for one, session in zip(staged, sessions, strict=True):
        name = one.group.name
        flipped = [
            *(test for test in one.sentinels.must_fail if _told(session, test) and not _failed(one, session, test)),
            *(test for test in one.sentinels.must_pass if _told(session, test) and not session.passed(test)),
        ]
        if flipped:
            sort = "must fail" if set(flipped) & one.sentinels.must_fail else "must pass"
            return Judged({}, Rejection.CANARY_FLIPPED, f"group {name}: a sentinel that {sort} did not")
        strange = len(session.phases.keys() - set(one.order))
        if strange:
            return Judged({}, Rejection.UNEXPECTED_TESTS, f"group {name}: {strange} tests ran that are none of its own")
    return Judged({one.group.name: _verdict(one, session) for one, session in zip(staged, sessions, strict=True)})


def _told(session: Session, test: str) -> bool:
    """Whether a test's call is over; one whose session ended before proves nothing."""
    return any(when in {"call", "teardown"} for when, *_ in session.phases.get(test, ()))


def _failed(one: StagedGroup, session: Session, test: str) -> bool:
    return session.failed_properly(test, quiet=test in one.sentinels.quiet)


def _verdict(one: StagedGroup, session: Session) -> GroupVerdict:
    ids = one.group.ids
    failed = [number for number, test in enumerate(ids) if not session.passed(test)]
    whole = session.finished and not session.forged
    sentinels = one.sentinels
    sentinels_ran = all(_failed(one, session, test) for test in sentinels.must_fail) and all(
        map(session.passed, sentinels.must_pass)
    )
    if session.forged:
        detail = "something other than the reporter wrote on the channel of the results"
    elif not session.finished:
        detail = "the session ended before it was done"
    elif failed:
        why = _why(session, ids[failed[0]])
        detail = f"{len(failed)} of {len(ids)} failed; first test {failed[0] + 1}: {why}"
    else:
        detail = "" if sentinels_ran else "the sentinels did not run"
    return GroupVerdict(
        name=one.group.name,
        kind=one.group.kind,
        oracle=one.group.oracle,
        trust=Trust.IN_PROCESS,
        passed=not detail,
        checks=len(ids),
        checks_passed=len(ids) - len(failed) if whole and sentinels_ran else 0,
        detail=detail,
    )


def _why(session: Session, test: str) -> str:
    said = session.phases.get(test)
    if not said:
        return "was not collected" if session.uncollected else "did not run"
    if any(times > 1 for times in Counter(when for when, *_ in said).values()):
        return "was reported twice"
    for when, outcome, raised, xfail in said:
        if xfail:
            return "was expected to fail"
        if outcome == "skipped":
            return "was skipped"
        if outcome != "passed" or raised:
            return "failed" if when == "call" else "had an error before or after its call"
    return "did not come to its end"

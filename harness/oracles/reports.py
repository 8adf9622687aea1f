"""What a script or a pytest session says about tests, parsed as hostile text into one status for each name. Pure.

The rules of SWE-bench hold: passed and expected failures pass; a skipped test fails what must begin to pass and is
fine where it had to go on passing; a test that nobody spoke of has failed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import assert_never

from pydantic import JsonValue

from harness.oracles.observe import parse_hostile
from harness.suites.groups import GroupKind, ReportFormat

MAX_TESTS = 200_000
START, STOP = ">>>>> Start Test Output", ">>>>> End Test Output"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PHASES = ("setup", "call", "teardown")


class Status(StrEnum):
    """What was said of one test."""

    PASSED = "passed"
    XFAIL = "xfail"
    SKIPPED = "skipped"
    FAILED = "failed"


_WORDS = {
    "PASSED": Status.PASSED,
    "PASS": Status.PASSED,
    "OK": Status.PASSED,
    "SUCCESS": Status.PASSED,
    "XFAIL": Status.XFAIL,
    "EXPECTED FAILURE": Status.XFAIL,
    "SKIPPED": Status.SKIPPED,
    "SKIP": Status.SKIPPED,
    "FAILED": Status.FAILED,
    "FAIL": Status.FAILED,
    "ERROR": Status.FAILED,
}
_SUMMARY = re.compile(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\s+(\S.*)")
_VERBOSE = re.compile(r"(\S.*?\S)\s+(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b(?:\s.*)?")
_UNITTEST = re.compile(r"(.+?) \.\.\. (ok|FAIL|ERROR|skipped\b.*|expected failure)")
_UNITTEST_BLOCK = re.compile(r"(?:FAIL|ERROR): (.+)")
_SYMPY = re.compile(r"(test_\w+)\s+(ok|[FEfs]|FAIL|ERROR)\b.*")
_SYMPY_WORDS = {"ok": Status.PASSED, "f": Status.XFAIL, "s": Status.SKIPPED}


def passes(status: Status | None, kind: GroupKind) -> bool:
    """Whether a pinned test of a group of this kind passes; None is a test that nobody spoke of."""
    match status:
        case Status.PASSED | Status.XFAIL:
            return True
        case Status.SKIPPED:
            return kind is GroupKind.REGRESSION
        case Status.FAILED | None:
            return False
        case _:
            assert_never(status)


def look_up(said: Mapping[str, Status], names: Iterable[str]) -> dict[str, Status | None]:
    """The status of each pinned name.

    Published lists hold names that were cut at a space; such a name has the worst status of all it may stand for.
    """
    cut: dict[str, Status] = {}
    for name, status in said.items():
        short = name.split(maxsplit=1)[0] if name.strip() else name
        cut[short] = max(status, cut.get(short, status), key=list(Status).index)
    return {name: said.get(name, cut.get(name)) for name in names}


def parse_report(form: ReportFormat, text: bytes) -> dict[str, Status]:
    """The status of each test that a report speaks of. Never raises."""
    match form:
        case ReportFormat.PYTEST:
            return _lines(text, _pytest_line)
        case ReportFormat.UNITTEST:
            return _lines(text, _unittest_line)
        case ReportFormat.SYMPY:
            return _lines(text, _sympy_line)
        case ReportFormat.TESTS_JSON:
            return _tests_json(text)
        case _:
            assert_never(form)


def _lines(text: bytes, read: Callable[[str], tuple[str, Status] | None]) -> dict[str, Status]:
    """The last word on each test counts, as with the parsers that the published lists were made by."""
    shown = _ANSI.sub("", text.decode("utf-8", "replace"))
    if START in shown:
        shown = shown.split(START, 1)[1].split(STOP, 1)[0]
    said: dict[str, Status] = {}
    for line in shown.splitlines():
        found = read(line.strip()) if len(line) < 4096 else None
        if found is not None and (found[0] in said or len(said) < MAX_TESTS):
            said[found[0]] = found[1]
    return said


def _pytest_line(line: str) -> tuple[str, Status] | None:
    if match := _SUMMARY.fullmatch(line):
        status = _WORDS[match[1]]
        return (match[2].split(" - ", 1)[0].strip() if status is not Status.PASSED else match[2]), status
    if (match := _VERBOSE.fullmatch(line)) and "::" in match[1]:
        return match[1], _WORDS[match[2]]
    return None


def _unittest_line(line: str) -> tuple[str, Status] | None:
    if match := _UNITTEST.fullmatch(line):
        word = match[2].split(" ", 1)[0].upper() if match[2].startswith("skipped") else match[2].upper()
        return match[1], _WORDS[word]
    if match := _UNITTEST_BLOCK.fullmatch(line):
        return match[1], Status.FAILED
    return None


def _sympy_line(line: str) -> tuple[str, Status] | None:
    match = _SYMPY.fullmatch(line)
    return (match[1], _SYMPY_WORDS.get(match[2], Status.FAILED)) if match else None


def _tests_json(text: bytes) -> dict[str, Status]:
    value = parse_hostile(text)
    tests = value.get("tests") if isinstance(value, dict) else None
    said: dict[str, Status] = {}
    for one in tests[:MAX_TESTS] if isinstance(tests, list) else ():
        match one:
            case {"name": str(name), "status": str(word)}:
                said[name] = _WORDS.get(word.upper(), Status.FAILED)
            case _:
                continue
    return said


# ------------------------------------------------------------------------------------------------ pytest in the tree


def parse_in_tree(stdout: bytes) -> tuple[dict[str, Status], int, bool]:
    """Statuses by node id, how many files could not be collected, and whether the session's program came to its end."""
    phases: dict[str, list[tuple[str, str, bool]]] = {}
    uncollected = 0
    *lines, rest = stdout.split(b"\n")
    complete = bool(lines) and lines[-1] == b"end" and not rest
    for line in lines:
        match parse_hostile(line) if line.startswith(b"{") else None:
            case {"e": "phase", "id": str(test), "when": str(when), "outcome": str(outcome), "xfail": bool(xfail)}:
                if test in phases or len(phases) < MAX_TESTS:
                    phases.setdefault(test, []).append((when, outcome, xfail))
            case {"e": "uncollected"}:
                uncollected += 1
            case _:
                continue
    said = {test: status for test, seen in phases.items() if (status := _status(seen)) is not None}
    return said, uncollected, complete


def _status(seen: list[tuple[str, str, bool]]) -> Status | None:
    """None for what SWE-bench's parsers have no word for: an unexpected pass, and a test that did not end."""
    if any(outcome == "failed" for _, outcome, _ in seen):
        return Status.FAILED
    skipped = [xfail for _, outcome, xfail in seen if outcome == "skipped"]
    if skipped:
        return Status.XFAIL if any(skipped) else Status.SKIPPED
    whole = [when for when, outcome, xfail in seen if outcome == "passed" and not xfail]
    return Status.PASSED if whole == list(_PHASES) else None


# --------------------------------------------------------------------------------------------------------- rewards


def parse_reward(data: bytes, *, as_json: bool) -> dict[str, float] | None:
    """The numbers of a reward file; None if it holds none: not JSON or no number, empty, not finite."""
    value: JsonValue = parse_hostile(data) if as_json else None
    if not as_json:
        try:
            value = {"reward": float(data.decode("ascii").strip())}
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = {"reward": value}
    if not isinstance(value, dict) or not value:
        return None
    numbers = {name: one for name, one in value.items() if isinstance(one, int | float) and not isinstance(one, bool)}
    if len(numbers) != len(value) or not all(map(math.isfinite, numbers.values())):
        return None
    return {name: float(one) for name, one in numbers.items()}

"""What the driver said, parsed as hostile text and compared with what the host holds. Pure."""

from __future__ import annotations

import builtins
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import assert_never

from pydantic import JsonValue

from harness.digest import loads
from harness.suites.oracles import (
    CallExpectation,
    CasesOracle,
    CommandExpectation,
    CommandsOracle,
    HostHeldOracle,
    OperationsOracle,
    Raised,
    Returned,
)
from harness.suites.values import same_value

MAX_LINE = 1 << 23
MAX_NESTING = 200
"""Brackets that may be open at once: more than any value's, few enough for any parser."""

END = b"end"
_HEAD = re.compile(rb'\[(0|[1-9][0-9]{0,6}),(0|[1-9][0-9]{0,6}),"([a-z_]{1,16})"\]')
_ERRORS = frozenset(
    name for name, item in vars(builtins).items() if isinstance(item, type) and issubclass(item, BaseException)
)

_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))

PASSED = ""
"""What a judge says of a check that passed; anything else says why it failed, in words of ours alone."""

GARBLED = "the observation is garbled"


class State(StrEnum):
    """How the driver fared with one item."""

    ANSWERED = "answered"
    DIED = "died"
    TIMEOUT = "timeout"
    FLOOD = "flood"
    NOT_RUN = "not_run"


_UNANSWERED = {
    State.DIED: "the process ended without an answer",
    State.TIMEOUT: "took longer than its limit",
    State.FLOOD: "said more than its limit",
    State.NOT_RUN: "was not run: too little time was left, or too many before it had to be stopped",
}


@dataclass(frozen=True)
class Observation:
    """One item's state and, if it answered, the worker's own words: None where those are no answer."""

    state: State
    answer: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True)
class Observations:
    """Everything that came out, by ``(group, item)``. An item that was spoken for twice is absent."""

    by_item: Mapping[tuple[int, int], Observation]
    complete: bool
    """Whether the driver said that it was done, once and last."""
    strange: int
    """Lines that speak for no item, or for one again."""


@dataclass
class _Heard:
    sizes: Sequence[int]
    by_item: dict[tuple[int, int], Observation] = field(default_factory=dict)
    again: set[tuple[int, int]] = field(default_factory=set)
    strange: int = 0

    def line(self, line: bytes) -> None:
        head, tab, words = line.partition(b"\t")
        match = _HEAD.fullmatch(head)
        if not tab or match is None or len(line) > MAX_LINE:
            self.strange += 1
            return
        group, item, state = int(match[1]), int(match[2]), match[3].decode()
        if group >= len(self.sizes) or item >= self.sizes[group] or state not in set(State):
            self.strange += 1
        elif (group, item) in self.by_item:
            self.strange += 1
            self.again.add((group, item))
        else:
            self.by_item[group, item] = Observation(State(state), _answer(words, item))


def parse_observations(stdout: bytes, sizes: Sequence[int]) -> Observations:
    """Read the driver's lines for groups of *sizes* items each. Never raises: what it can't read, it counts.

    A last line without its end was cut and is left out.
    """
    *lines, rest = stdout.split(b"\n")
    complete = bool(lines) and lines[-1] == END and not rest
    heard = _Heard(sizes)
    for line in lines[:-1] if complete else lines:
        heard.line(line)
    by_item = {key: value for key, value in heard.by_item.items() if key not in heard.again}
    return Observations(by_item, complete, heard.strange)


def _answer(words: bytes, item: int) -> Mapping[str, JsonValue] | None:
    parsed = parse_hostile(words)
    if not isinstance(parsed, dict) or type(parsed.get("i")) is not int or parsed["i"] != item:
        return None
    return {key: value for key, value in parsed.items() if key != "i"}


def parse_hostile(words: bytes) -> JsonValue:
    """Parse a candidate's JSON; None if it is none, or nests too deep to be looked at."""
    if len(words) > MAX_LINE or _nesting(words) > MAX_NESTING:
        return None
    try:
        parsed: JsonValue = loads(words.decode())
    except (ValueError, RecursionError):
        return None
    return parsed


def _nesting(words: bytes) -> int:
    """An upper bound of how deep brackets nest, counted without regard to strings."""
    return max(accumulate(array("b", words.translate(_STEPS, _NO_BRACKETS))), default=0)


# ------------------------------------------------------------------------------------------------------- judging


def judge(oracle: HostHeldOracle, group: int, heard: Observations) -> list[str]:
    """For each item of a group, :data:`PASSED` or why it failed."""
    match oracle:
        case CasesOracle() | OperationsOracle() | CommandsOracle():
            expectations = list(oracle.expectations())
        case _:
            assert_never(oracle)
    return [judge_item(expected, heard.by_item.get((group, item))) for item, expected in enumerate(expectations)]


Expectation = CallExpectation | CommandExpectation | tuple[CallExpectation, ...]


def judge_item(expected: Expectation, seen: Observation | None) -> str:
    """Compare one observation with what the host holds."""
    if seen is None:
        return "no observation came back"
    if seen.state is not State.ANSWERED:
        return _UNANSWERED[seen.state]
    return GARBLED if seen.answer is None else _judge_answer(expected, seen.answer)


def _judge_answer(expected: Expectation, answer: Mapping[str, JsonValue]) -> str:
    if "import" in answer:
        return f"the target could not be imported ({_error(answer['import'])})"
    match expected:
        case CommandExpectation():
            return _judge_command(expected, answer)
        case tuple():
            return _judge_steps(expected, answer)
        case Returned() | Raised():
            return _judge_call(expected, answer)
        case _:
            assert_never(expected)


def _judge_call(expected: CallExpectation, answer: Mapping[str, JsonValue]) -> str:
    match (expected, *answer.items()):
        case (_, ("unserialisable", _)):
            return "returned something that is no plain value"
        case (Raised(name=name), ("raised", list() as classes)):
            return PASSED if name in classes else f"raised another exception ({_error(classes)})"
        case (Returned(), ("raised", list() as classes)):
            return f"raised an exception ({_error(classes)})"
        case (Raised(), ("returned", _)):
            return "returned where an exception was due"
        case (Returned(value=value), ("returned", observed)):
            return PASSED if same_value(value, observed) else "returned another value"
        case _:
            return GARBLED


def _judge_steps(expected: tuple[CallExpectation, ...], answer: Mapping[str, JsonValue]) -> str:
    if "init" in answer:
        return f"the instance could not be made ({_error(answer['init'])})"
    steps = answer.get("steps")
    if not isinstance(steps, list) or len(steps) != len(expected):
        return GARBLED
    for number, (one, step) in enumerate(zip(expected, steps, strict=True), start=1):
        said = _judge_call(one, step) if isinstance(step, dict) else GARBLED
        if said != PASSED:
            return f"step {number} {said}"
    return PASSED


def _judge_command(expected: CommandExpectation, answer: Mapping[str, JsonValue]) -> str:
    status, files = answer.get("status"), answer.get("files")
    if type(status) is not int or not isinstance(files, dict):
        return GARBLED
    if status != expected.status:
        return "ended with another exit status"
    if expected.stdout is not None and answer.get("stdout") != expected.stdout:
        return "printed something else"
    for number, (name, content) in enumerate(sorted(expected.files.items()), start=1):
        if name not in files:
            return GARBLED
        if files[name] != content:
            return f"file {number} of {len(expected.files)} is not as expected"
    return PASSED


def _error(said: JsonValue) -> str:
    """The nearest class name that is Python's own; a candidate's names are never printed."""
    known = [name for name in said if name in _ERRORS] if isinstance(said, list) else []
    return str(known[0]) if known else "of its own"

"""What must never be found in a container: for tests that search one, and for exposure audits."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import JsonValue

from harness.suites.oracles import CommandExpectation, Raised
from harness.suites.task import Task

MIN_BYTES = 8
"""Shorter expected values turn up by chance."""


def expected_needles(task: Task) -> tuple[bytes, ...]:
    """Expected values of the host-held groups that are long enough to mean something when found.

    What a candidate sees anyway (the prompt, the tree, the inputs) is left out.
    """
    known = "\n".join(
        [
            task.prompt,
            *(entry.data.decode("utf-8", "replace") for entry in task.before.values()),
            *(json.dumps(oracle.inputs(), ensure_ascii=False) for oracle in task.oracles.values()),
        ]
    )
    found = {
        text
        for oracle in task.oracles.values()
        for expected in oracle.expectations()
        for one in (expected if isinstance(expected, tuple) else (expected,))
        for text in _texts(one)
    }
    return tuple(sorted(text.encode() for text in found if len(text.encode()) >= MIN_BYTES and text not in known))


def hidden_needles(task: Task) -> tuple[bytes, ...]:
    """Everything that a solver's container must not hold: canaries and expected values."""
    return tuple(canary.encode() for canary in task.canaries) + expected_needles(task)


def _texts(expected: object) -> Iterator[str]:
    if isinstance(expected, Raised):
        return
    if isinstance(expected, CommandExpectation):
        yield from (text for text in (expected.stdout, *expected.files.values()) if text is not None)
        return
    value = getattr(expected, "value", None)
    yield from _leaves(value)
    if isinstance(value, dict | list):
        yield json.dumps(value, ensure_ascii=False)
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)

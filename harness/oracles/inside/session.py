"""One pytest session over hidden tests, in a process of its own: the only place where they meet the candidate's code.

Each result leaves as ``<mac> <json>`` on a pipe to the parent. The key comes over another pipe after the fork and is
kept in no Python object, so that what the candidate prints, or writes on every descriptor it finds, counts for nothing.
What it could do to pytest itself is what the sentinels are for.
"""

from __future__ import annotations

import hmac
import importlib
import json
import os
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest
from _pytest.config import default_plugins

from harness.oracles.inside.processes import write_all

KEY_BYTES = 32
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
CLEARED = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONPATH", "PYTHONSTARTUP")

Say = Callable[[dict[str, Any]], None]


def signer(key: bytes) -> Callable[[int, bytes], bytes]:
    """Sign the nth line of one session."""
    keyed = hmac.new(key, digestmod="sha256")

    def sign(number: int, line: bytes) -> bytes:
        mac = keyed.copy()
        mac.update(b"%d:%s" % (number, line))
        return mac.hexdigest().encode()

    return sign


def sayer(sign: Callable[[int, bytes], bytes], results: int) -> Say:
    """What the reporter speaks with; it holds everything it needs before the candidate is imported."""
    encode, write = json.JSONEncoder(separators=(",", ":")).encode, write_all
    count = 0

    def say(event: dict[str, Any]) -> None:
        nonlocal count
        line = encode(event).encode()
        write(results, sign(count, line) + b" " + line + b"\n")
        count += 1

    return say


class Reporter:
    """Picks the wanted tests in the wanted order and tells each phase's outcome, seen from two sides."""

    def __init__(self, order: list[str], say: Say) -> None:
        self._order = order
        self._say = say
        self._raised = False

    def pytest_collectreport(self, report: Any) -> None:
        """Tell which file could not be collected, or skipped itself."""
        if report.outcome != "passed":
            self._say({"e": "uncollected", "id": report.nodeid, "outcome": report.outcome})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the wanted items, in order."""
        found: dict[str, Any] = {}
        for item in items:
            found.setdefault(item.nodeid, item)
        items[:] = [found[one] for one in self._order if one in found]
        self._say({"e": "collected", "ids": [item.nodeid for item in items]})

    def _watch(self) -> Generator[None, Any, Any]:
        self._raised = True
        result = yield
        self._raised = False
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        """See with our own eyes whether it raised."""
        return (yield from self._watch())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """See with our own eyes whether it raised."""
        return (yield from self._watch())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, Any, Any]:
        """See with our own eyes whether it raised."""
        return (yield from self._watch())

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell one phase of one test."""
        self._say(
            {
                "e": "phase",
                "id": report.nodeid,
                "when": report.when,
                "outcome": report.outcome,
                "raised": self._raised,
                "xfail": hasattr(report, "wasxfail"),
            }
        )

    def pytest_sessionfinish(self) -> None:
        """Tell that nothing more comes."""
        self._say({"e": "finished"})


def preload() -> None:
    """Import pytest's own plugins before the forks, so that each session needn't."""
    for name in default_plugins:
        importlib.import_module(f"_pytest.{name}")


def run_session(group: dict[str, Any], ini: str, workspace: str, say: Say) -> None:
    """Run one group's hidden tests; the candidate's tree comes last on the path, so that it shadows nothing."""
    for name in CLEARED:
        os.environ.pop(name, None)
    os.environ.update(ENVIRONMENT)
    sys.path.append(workspace)
    folder = group["folder"]
    pytest.main(
        [
            f"--rootdir={folder}",
            f"--confcutdir={folder}",
            *("-c", ini, "-p", "no:cacheprovider", "-q", "--no-header", "--tb=no"),
            "--continue-on-collection-errors",
            *group["files"],
        ],
        plugins=[Reporter(group["order"], say)],
    )

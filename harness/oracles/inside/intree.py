"""pytest over tests that lie in the tree, with the tree's own settings; run by whatever Python the image's tests need.

So it speaks Python 3.6 and old pytest. Its standard input is one JSON job; it says one JSON object a line on a private
copy of standard output, then ``end``. What the tests print goes nowhere, so that no printed text is taken for a result.
"""

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any


class Reporter:
    """Tells each phase of each test, and which files could not be collected."""

    def __init__(self, out: int) -> None:
        self._out = out

    def _say(self, event: Any) -> None:
        os.write(self._out, json.dumps(event).encode() + b"\n")

    def pytest_collectreport(self, report: Any) -> None:
        """Tell which file could not be collected."""
        if report.outcome == "failed":
            self._say({"e": "uncollected", "id": report.nodeid})

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell one phase of one test."""
        xfail = hasattr(report, "wasxfail")
        self._say({"e": "phase", "id": report.nodeid, "when": report.when, "outcome": report.outcome, "xfail": xfail})


def child(job: Any, out: int) -> None:
    """Become the session: own process group, no streams, the workspace first on the path."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(job["workspace"])
    sys.path.insert(0, job["workspace"])
    import pytest

    files = [one for one in job["files"] if os.path.exists(one)]  # noqa: PTH110 - plain strings, as they are
    pytest.main(["-p", "no:cacheprovider", "-q", "--tb=no"] + files, plugins=[Reporter(out)])  # noqa: RUF005


def forward(read: int, out: int, until: float, room: int) -> None:
    """Pass on what the session says, to its end, its deadline or the limit."""
    while True:
        if not select.select([read], [], [], max(0.0, until - time.time()))[0]:
            return
        data = os.read(read, 1 << 16)
        room -= len(data)
        if not data or room < 0:
            return
        while data:
            data = data[os.write(out, data) :]


def main() -> None:
    """Read the job, take standard output away, run the session in a child, end it."""
    job = json.loads(sys.stdin.read())
    out = os.dup(1)
    os.dup2(2, 1)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.close(out)
        try:
            child(job, write)
        finally:
            os._exit(0)
    os.close(write)
    forward(read, out, time.time() + job["seconds"], job["max_bytes"])
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    os.write(out, b"\nend\n")

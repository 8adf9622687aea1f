"""The program that runs host-held groups inside the grading container: inputs in, observations out.

Its standard input is one JSON job (``docs/oracles.md`` has the shapes), which holds no expected value. Candidate code
is imported only in forked workers, whose standard streams lead nowhere. The observations leave by a private copy of
standard output, one a line: ``[group,item,"state"]``, a tab, and the worker's own words, which the host takes for
hostile; then ``end``.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from typing import Any, NoReturn

from harness.oracles.inside.calls import work
from harness.oracles.inside.commands import Limits, run_command
from harness.oracles.inside.processes import end_all, fork, limit_worker, silence, write_all

STRIKES = 3
"""Items of one group that may have to be stopped before the rest of it is given up."""

Job = dict[str, Any]


class Driver:
    """Runs one job. *out* is the private descriptor."""

    def __init__(self, job: Job, out: int) -> None:
        self.out = out
        self.workspace: str = job["workspace"]
        self.groups: list[Job] = job["groups"]
        self.limits = Limits(job["item_seconds"], time.monotonic() + job["seconds"], job["max_bytes"])

    def run(self) -> None:
        """Run every group and say so at the end."""
        for number, group in enumerate(self.groups):
            one = self._command if group["oracle"] == "commands" else self._worker
            item, strikes, count = 0, 0, len(group["items"])
            while item < count and strikes < STRIKES and self.limits.left() > 0:
                item, stopped = one(number, group, item)
                strikes += stopped
            for rest in range(item, count):
                self._say(number, rest, "not_run")
        write_all(self.out, b"end\n")

    def _say(self, group: int, item: int, state: str, words: bytes = b"") -> None:
        write_all(self.out, b'[%d,%d,"%s"]\t%s\n' % (group, item, state.encode(), words))

    def _command(self, number: int, group: Job, item: int) -> tuple[int, bool]:
        """Run one command in a folder of its own; the next item, and whether it had to be stopped."""
        folder = tempfile.mkdtemp()
        try:
            state, answer = run_command(group["items"][item], folder, self.workspace, self.limits)
        except OSError:
            state, answer = "died", None  # no such program, no room, no process ids
        finally:
            end_all()
            shutil.rmtree(folder, ignore_errors=True)
        words = b"" if answer is None else json.dumps({"i": item, **answer}, ensure_ascii=False).encode()
        self._say(number, item, state, words)
        return item + 1, state in {"timeout", "flood"}

    def _worker(self, number: int, group: Job, first: int) -> tuple[int, bool]:
        """Let one worker answer as far as it gets; the next item, and whether it had to be stopped."""
        read, write = os.pipe()
        pid = fork()
        if pid == 0:
            self._become_worker(group, first, write)
        os.close(write)
        if pid is None:
            os.close(read)
            return first, True
        try:
            return self._listen(number, first, len(group["items"]), read)
        finally:
            os.close(read)
            os.kill(pid, signal.SIGKILL)
            end_all(pid)
            os.waitpid(pid, 0)

    def _become_worker(self, group: Job, first: int, write: int) -> NoReturn:
        try:
            os.setsid()
            silence()
            answers = os.dup2(write, 3, inheritable=False)
            os.closerange(4, 256)
            limit_worker(self.limits.file_bytes)
            os.chdir(self.workspace)
            work(group, first, self.workspace, answers)
        finally:
            os._exit(0)

    def _listen(self, number: int, item: int, count: int, read: int) -> tuple[int, bool]:
        held = bytearray()
        until = self.limits.until()
        while item < count:
            ready, _, _ = select.select([read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self._say(number, item, "timeout")
                return item + 1, True
            data = os.read(read, 1 << 16)
            if not data:
                self._say(number, item, "died")
                return item + 1, False
            held += data
            if len(held) > self.limits.max_bytes and b"\n" not in held[: self.limits.max_bytes]:
                self._say(number, item, "flood")
                return item + 1, True
            *lines, held = held.split(b"\n")
            for line in lines[: count - item]:
                self._say(number, item, "answered", bytes(line))
                item += 1
                until = self.limits.until()
        return item, False


def main() -> None:
    """Read the job, take standard output away, run."""
    job = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    silence()
    Driver(job, out).run()

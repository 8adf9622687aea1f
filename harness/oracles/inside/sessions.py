"""The parent of the pytest sessions: it imports no candidate code, hands out keys, checks, forwards and kills.

Its standard input is one JSON job. It says ``<group> <json>`` lines on a private copy of standard output, then ``end``.
It can't be looked into or written to by its children, though they run as the same user.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any, NoReturn

from harness.oracles.inside.processes import end_all, fork, limit_worker, silence, write_all
from harness.oracles.inside.session import KEY_BYTES, preload, run_session, sayer, signer

PR_SET_DUMPABLE = 4
FORGED = b'{"e":"forged"}'


def set_dumpable(allowed: bool) -> None:
    """Whether processes of the same user may read this one's memory and descriptors."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(allowed), 0, 0, 0)


class Parent:
    """Runs the groups of one job, one child each. *out* is the private descriptor."""

    def __init__(self, job: dict[str, Any], out: int) -> None:
        self.job = job
        self.out = out
        self.deadline = time.monotonic() + job["seconds"]

    def run(self) -> None:
        """Every group gets an equal share of the time that is left when its turn comes."""
        groups = self.job["groups"]
        for number, group in enumerate(groups):
            now = time.monotonic()
            self._group(number, group, now + (self.deadline - now) / (len(groups) - number))
        write_all(self.out, b"end\n")

    def _group(self, number: int, group: dict[str, Any], until: float) -> None:
        key_read, key_write = os.pipe()
        results_read, results_write = os.pipe()
        pid = fork()
        if pid == 0:
            self._become_session(group, key_read, results_write)
        os.close(key_read)
        os.close(results_write)
        try:
            if pid is not None:
                key = os.urandom(KEY_BYTES)  # after the fork, so that it lies in no page the child shares
                write_all(key_write, key)
                self._listen(number, key, results_read, until)
        finally:
            os.close(key_write)
            os.close(results_read)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                end_all(pid)
                os.waitpid(pid, 0)

    def _become_session(self, group: dict[str, Any], key_read: int, results_write: int) -> NoReturn:
        try:
            os.setsid()
            set_dumpable(True)
            silence()
            key = os.dup2(key_read, 64, inheritable=False)
            results = os.dup2(results_write, 65, inheritable=False)
            os.closerange(3, 64)
            os.closerange(66, 256)
            say = sayer(signer(os.read(key, KEY_BYTES)), results)
            os.close(key)
            limit_worker(self.job["file_bytes"])
            os.chdir(self.job["workspace"])
            run_session(group, self.job["ini"], self.job["workspace"], say)
        finally:
            os._exit(0)

    def _listen(self, number: int, key: bytes, read: int, until: float) -> None:
        sign = signer(key)
        held, count, room = b"", 0, self.job["max_bytes"]
        while select.select([read], [], [], max(0.0, until - time.monotonic()))[0]:
            data = os.read(read, 1 << 16)
            room -= len(data)
            if not data or room < 0:
                return
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                mac, _, event = line.partition(b" ")
                genuine = mac == sign(count, event)
                write_all(self.out, b"%d %s\n" % (number, event if genuine else FORGED))
                if not genuine:
                    return
                count += 1


def main() -> None:
    """Shut the door, read the job, take standard output away, run."""
    set_dumpable(False)
    job = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    silence()
    preload()
    Parent(job, out).run()

"""The harness's end of an attempt's tracer: starts it, tells it what to watch, and stores what it saw.

A tracer that does not start, may not watch, or dies costs the attempt nothing but the coverage.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import harness
from harness.engine.sandbox import Sandbox
from harness.evidence import TraceRecord
from harness.records import Coverage
from harness.store import Store
from harness.traces.records import DENIED, FILESYSTEM, LINES_TYPE

_ROOT = str(Path(harness.__file__).parent.parent)
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from harness.traces.tracer.main import main; main()"
_ARM_S, _FINISH_S, _END_S = 30.0, 180.0, 10.0
_FULL = {
    FILESYSTEM: "every mount of the container was watched, each proved by an event before the solver started",
    DENIED: "every call of the container's processes was watched, proved by one before the solver started",
}
_NEVER = "the solver never ran"
_DIED = "the tracer ended before the solver did"


class Tracer:
    """One attempt's tracer process. It starts at once, so that it is ready when the container is.

    Args:
        store: where traces go.
        channels: what to watch.
    """

    def __init__(self, store: Store, channels: Sequence[str] = (FILESYSTEM, DENIED)) -> None:
        self._store, self._channels = store, tuple(channels)
        self._problems: dict[str, str] = dict.fromkeys(channels, _NEVER)
        self._records: dict[str, TraceRecord] = {}
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "linux":
            return
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, _ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,  # a Ctrl-C is for the command, which still wants the trace
            )
        except OSError as error:
            self._problems = dict.fromkeys(channels, f"the tracer did not start ({error.strerror})")

    def arm(self, sandbox: Sandbox) -> None:
        """Watch a sealed container in which nothing of a solver's runs yet; once this is back the watch is proved."""
        if sandbox.pid is None:
            self._problems = dict.fromkeys(self._channels, "the engine's kernel is not this one")
            return
        if self._process is None:
            return
        asked = {"pid": sandbox.pid, "marker": sandbox.id, "channels": self._channels}
        try:
            with self._within(_ARM_S):
                self._write(json.dumps(asked).encode() + b"\n")
                self._problems = json.loads(self._out.readline())
        except (OSError, ValueError):
            self._problems = dict.fromkeys(self._channels, "the tracer died as it was started")

    def record(self, channel: str) -> TraceRecord:
        """What was seen of a channel. The first call ends the watch: the container must be gone.

        Raises:
            InfraError: the store failed.
        """
        if self._process is not None:
            try:
                with self._within(_FINISH_S):
                    self._finish(self._records)
            finally:
                self.close()
        problem = self._problems.get(channel) or _DIED
        return self._records.get(channel) or TraceRecord(channel=channel, coverage=Coverage.NONE, reason=problem)

    def close(self) -> None:
        """End the process, if it still runs."""
        if self._process is None:
            return
        process, self._process = self._process, None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # it had died with something unread
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _finish(self, records: dict[str, TraceRecord]) -> None:
        if all(self._problems.values()):
            return
        try:
            self._write(b"\n")
        except OSError:
            return
        while True:
            head = self._out.readline()
            if not head.endswith(b"\n"):
                return
            told: dict[str, str] = json.loads(head)
            channel = told["channel"]
            body = _Body(self._out)
            blob = self._store.put_stream(body, LINES_TYPE)
            partial = told["partial"] if body.whole else _DIED
            records[channel] = TraceRecord(
                channel=channel,
                coverage=Coverage.PARTIAL if partial else Coverage.FULL,
                reason=partial or _FULL[channel],
                lines=blob,
            )

    @property
    def _out(self) -> IO[bytes]:
        assert self._process is not None and self._process.stdout is not None
        return self._process.stdout

    def _write(self, line: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        """A tracer that takes longer is killed: what is read from it then ends."""
        assert self._process is not None
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class _Body:
    """One trace as it comes from the tracer, up to its empty line; ``whole`` afterwards says that this came."""

    def __init__(self, source: IO[bytes]) -> None:
        self.whole = False
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        for line in self._source:
            if line == b"\n":
                self.whole = True
                return
            if line.endswith(b"\n"):
                yield line

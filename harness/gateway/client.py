"""A run's gateway as a process beside it, for an engine that shares this host's kernel.

Keys reach the process on its standard input alone: not in its arguments, not in its environment, not in a file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import harness
from harness.engine.spec import BindMount
from harness.gateway.access import Access, Closed
from harness.gateway.calls import SLACK_S, SOCKET_FOLDER, AnyGateway, Door
from harness.gateway.control import Close, Open, Start
from harness.gateway.settings import Settings

__all__ = ["Door", "Gateway"]

_END_S = 15
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "COVERAGE_PROCESS_START")
_ROOT = Path(harness.__file__).parent.parent
_MAX_LOG = 2_000


class Gateway(AnyGateway):
    """The gateway process of a run.

    Args:
        store_root: the root of the run's local store.
        folder: where its sockets are; made if it is not there, emptied at the end.
        keys: the real keys, by upstream.
        settings: how patient it is.

    Raises:
        InfraError: it did not start.
    """

    def __init__(
        self,
        store_root: Path,
        folder: Path,
        keys: Mapping[str, str],
        settings: Settings | None = None,
    ) -> None:
        super().__init__(settings or Settings())
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="gateway-", dir=folder)).resolve()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._process = self._start()
        try:
            store = str(store_root.resolve())
            self._begin(Start(store=store, folder=str(self.folder), keys=dict(keys), settings=self.settings))
        except BaseException:
            self.end()
            raise

    def __repr__(self) -> str:
        return f"Gateway({str(self.folder)!r}, process {self._process.pid})"

    def end(self) -> None:
        """End the process."""
        with suppress(OSError), self._lock:
            if self._process.stdin is not None:
                self._process.stdin.close()
        for end in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(_END_S)
                break
            except subprocess.TimeoutExpired:
                end()
        self._process.wait()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return not self._dead and self._process.poll() is None

    def open(self, access: Access, *, key: str | None = None) -> Door:
        """Make a way in for one attempt: a folder of its own."""
        opened = self._ask(lambda number: Open(number=number, access=access, key=key), SLACK_S).opened
        if opened is None:
            raise self._gone("it gave no answer")
        return Door(opened.id, BindMount(source=opened.folder, target=SOCKET_FOLDER), opened.token)

    def close(self, door: Door) -> Closed:
        """Close an attempt's way in."""
        wait_s = self.settings.drain_s + SLACK_S
        closed = self._ask(lambda number: Close(number=number, door=door.id), wait_s).closed
        if closed is None:
            raise self._gone("it gave no answer")
        return closed

    def _start(self) -> subprocess.Popen[bytes]:
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env |= {"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.gateway"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=env,
            cwd=self.folder,
        )

    def _send(self, line: bytes) -> None:
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            raise BrokenPipeError("it was ended")
        pipe.write(line)
        pipe.flush()

    def _lines(self) -> Iterator[bytes]:
        yield from self._process.stdout or ()

    def _last_words(self) -> bytes:
        if self.alive or self._log.closed:
            return b""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), _MAX_LOG, max(0, size - _MAX_LOG))

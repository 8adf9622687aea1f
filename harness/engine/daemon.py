"""A Docker daemon of our own: shared by the commands that run at the same time, stopped by the last of them.

Everything is found by path. The daemon's command line names its configuration file, which is in our run folder, so a
process is ours when its command line says so: there is no stored pid that could go stale or be reused. Each command
that uses the daemon holds a shared lock on one file, which the kernel drops however the command dies; who can take
that lock alone is the last one.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.engine import mounts, processes, rooted
from harness.engine.debian import SYSTEM_PATH
from harness.errors import InfraError, UserError
from harness.files import atomic_write, storage_error

_ROOTED = (sys.executable, "-I", str(Path(rooted.__file__)))
_NAMESPACES = ("--containerd-namespace=trialbox", "--containerd-plugins-namespace=trialbox-plugins")
"""Where the host runs a containerd, dockerd uses that one: this keeps our things apart from its other users'."""

_SHIM = "containerd-shim-runc-v2"
_SOCKET_PATH_LIMIT = 107
_PING = b"GET /_ping HTTP/1.0\r\nHost: localhost\r\n\r\n"
_POLL_S = 0.02
_START_S = 90
_ADOPT_S = 5
"""How long a daemon that a killed command left behind may take to answer before it counts as broken."""


@dataclass(frozen=True)
class PrivateDaemon:
    """Where the daemon keeps its images (*data*, kept between commands) and its sockets and locks (*run*, short)."""

    data: Path = Path("/var/lib/trialbox/engine")
    run: Path = Path("/run/trialbox")

    @property
    def url(self) -> str:
        """The address to connect to."""
        return f"unix://{self._socket}"

    @contextmanager
    def hold(self, *, keep: bool, notify: Callable[[str], None], start: bool = True) -> Iterator[str]:
        """Run the daemon for the length of the block, starting it, or adopting one that runs already.

        Args:
            keep: leave it running at the end; a later command that does not ask for that will stop it.
            notify: told, in one line, what is being waited for.
            start: without it, only one that runs already and answers will do.

        Raises:
            InfraError: it does not start, or another command is using it and it no longer answers.
        """
        self._check_paths()
        try:
            self.run.mkdir(mode=0o700, parents=True, exist_ok=True)
            users = os.open(self.run / "users.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise storage_error(self.run, error) from error
        try:
            with self._turn(notify):
                alone = _lock_alone(users)
                fcntl.flock(users, fcntl.LOCK_SH)
                self._ensure(alone, start, notify)
            try:
                yield self.url
            finally:
                with self._turn(notify):
                    fcntl.flock(users, fcntl.LOCK_UN)
                    if _lock_alone(users) and not keep:
                        self.stop()
        finally:
            os.close(users)

    def answers(self) -> bool:
        """Whether the daemon is up and replies."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(_ADOPT_S)
            try:
                client.connect(str(self._socket))
                client.sendall(_PING)
                return b" 200 " in client.recv(64)
            except OSError:
                return False

    def pids(self, program: str = "dockerd") -> list[int]:
        """The running processes of this daemon: its ``dockerd``, the ``containerd`` under it, or containers' shims."""
        return processes.find(program, self.run)

    def stop(self, patience_s: int = 30) -> None:
        """End the daemon and take away what it leaves: processes, mounts, sockets. Its images stay."""
        for program in ("dockerd", "containerd"):
            for pid in self.pids(program):
                processes.end(pid, program, self.run, patience_s=patience_s)
        for shim in self.pids(_SHIM):  # only where dockerd had to be killed: it ends its containers itself
            processes.kill_children(shim)
            processes.end(shim, _SHIM, self.run, patience_s=0)
        self._unmount()
        shutil.rmtree(self._exec_root, ignore_errors=True)  # what is left is on a tmpfs and harmless
        for path in (self._socket, self.run / "dockerd.pid", self._config):
            path.unlink(missing_ok=True)

    # ------------------------------------------------------------------------------------------------------- starting

    def _ensure(self, alone: bool, start: bool, notify: Callable[[str], None]) -> None:
        """Leave a daemon that answers: the one that runs, or a new one. The caller holds the turn."""
        if self.pids():
            deadline = time.monotonic() + _ADOPT_S
            while time.monotonic() < deadline and self.pids():
                if self.answers():
                    return
                time.sleep(_POLL_S)
            if not alone:
                raise InfraError(
                    str(self.run), "the private engine that other commands use no longer answers", "end them first"
                )
        if not start:
            raise InfraError("engine", "the private engine does not answer", "`trialbox run` starts a new one")
        if self.pids():
            notify("replacing a private engine that no longer answers")
        self.stop(_ADOPT_S)  # a broken one, or what the host's last power cut left
        self._start()

    def _start(self) -> None:
        dockerd = shutil.which("dockerd", path=SYSTEM_PATH)
        if dockerd is None:
            raise InfraError("dockerd", "is not installed", "install Docker 20.10 or newer")
        atomic_write(self._config, json.dumps(self._settings(), indent=2).encode())
        try:
            self.data.mkdir(mode=0o710, parents=True, exist_ok=True)
            with self._log.open("wb") as log:
                process = subprocess.Popen(
                    [*_ROOTED, dockerd, f"--config-file={self._config}", *_NAMESPACES],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    env={"PATH": SYSTEM_PATH, "HOME": "/root", "LANG": "C.UTF-8"},
                    start_new_session=True,  # a Ctrl-C is for the command, which still needs the engine to clean up
                )
        except OSError as error:
            raise storage_error(self.data, error) from error
        try:
            self._wait_for(process)
        except BaseException:
            self.stop()
            raise

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_S
        while not self.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise InfraError(
                    str(self._log), f"the private engine did not start: {self._last_words()}", "read this log"
                )
            time.sleep(_POLL_S)

    def _settings(self) -> dict[str, object]:
        """No bridge and no packet filter: attempts have no network."""
        return {
            "hosts": [self.url],
            "data-root": str(self.data),
            "exec-root": str(self._exec_root),
            "pidfile": str(self.run / "dockerd.pid"),
            "group": "root",
            "bridge": "none",
            "iptables": False,
            "ip6tables": False,
            "ip-forward": False,
            "log-level": "warn",
        }

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "it wrote no log"
        return next((line.strip()[-400:] for line in reversed(lines) if line.strip()), "it wrote nothing")

    # ------------------------------------------------------------------------------------------------------- stopping

    def _unmount(self) -> None:
        """Detach what the daemon mounted; its data folder itself only where it says that it mounted that."""
        mounted = mounts.points(self.data, self._exec_root)
        its_own = (self._exec_root / "unmount-on-shutdown").exists()
        mounts.detach(point for point in reversed(mounted) if its_own or point != self.data)

    # --------------------------------------------------------------------------------------------------------- places

    @property
    def _socket(self) -> Path:
        return self.run / "docker.sock"

    @property
    def _exec_root(self) -> Path:
        return self.run / "exec"

    @property
    def _config(self) -> Path:
        return self.run / "daemon.json"

    @property
    def _log(self) -> Path:
        return self.run / "dockerd.log"

    def _check_paths(self) -> None:
        if sys.platform != "linux":
            raise UserError("engine", "a private engine needs Linux", "start Docker Desktop or set DOCKER_HOST")
        longest = self._exec_root / "containerd" / "containerd.sock.ttrpc"
        if len(os.fsencode(longest)) > _SOCKET_PATH_LIMIT:
            raise UserError(str(self.run), "the path is too long for a socket", "choose a shorter run folder")

    @contextmanager
    def _turn(self, notify: Callable[[str], None]) -> Iterator[None]:
        """One command at a time starts, adopts or stops."""
        handle = os.open(self.run / "turn.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _lock_alone(handle):
                notify("waiting for another command that starts or stops the private engine")
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _lock_alone(handle: int) -> bool:
    """Try for the only lock on a file, without waiting."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EAGAIN}:
            return False
        raise
    return True

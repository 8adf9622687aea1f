"""A Podman service of the tests' own: its storage, its socket, its configuration, nothing of the machine's.

The suite must give the same answers on Podman's Docker-compatible socket as on Docker's. From the command line::

    python tests/podman.py install              # apt-get install podman runc mount, as root on a Debian-family machine
    python tests/podman.py serve FOLDER         # print DOCKER_HOST=..., serve until Ctrl-C or SIGTERM

and in a test: ``with podman_engine(tmp_path) as engine``.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.engine import mounts, rooted
from harness.engine.addresses import Surroundings
from harness.engine.client import Engine
from harness.engine.connect import connect, knock

_START_S = 30


PACKAGES = ("podman", "runc", "mount")
"""Podman mounts a volume with a program that the smallest Debian lacks and its package does not ask for."""


def install() -> None:
    """Install Debian's podman with runc: its default runtime refuses hosts that mount both cgroup versions."""
    apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([*apt, "update"], check=False, env=quiet)
    subprocess.run([*apt, "install", "-y", "--no-install-recommends", *PACKAGES], check=True, env=quiet)


def ensure_installed() -> None:
    """Have podman and what it calls, installing what is not there."""
    if shutil.which("podman") is None or shutil.which("mount") is None:
        install()


def _no_more_than(limit: int, most: int) -> int:
    hard = resource.getrlimit(limit)[1]
    return most if hard == resource.RLIM_INFINITY else min(hard, most)


def _configuration() -> str:
    """Nothing that needs systemd, journald, or the right to raise a limit."""
    files, processes = _no_more_than(resource.RLIMIT_NOFILE, 20_000), _no_more_than(resource.RLIMIT_NPROC, 4_096)
    return f"""\
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
netns = "none"
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
# how long an exec's monitor outlives it, so that its exit status can still be asked for; the default is 300 s
exit_command_delay = 10
"""


@contextmanager
def podman_service(folder: Path) -> Iterator[str]:
    """Serve the Docker-compatible API from storage under *folder*; yields the address for DOCKER_HOST."""
    short = Path(tempfile.mkdtemp(prefix="tbp.", dir="/run" if os.access("/run", os.W_OK) else None))
    storage = folder / "podman"
    storage.mkdir(parents=True, exist_ok=True)
    configuration = storage / "containers.conf"
    configuration.write_text(_configuration())
    environment = os.environ | {"CONTAINERS_CONF": str(configuration)}
    # libpod refuses a run folder of more than 50 characters
    command = [
        shutil.which("podman") or "podman",
        "--root",
        str(storage / "root"),
        "--runroot",
        str(short / "run"),
        "--tmpdir",
        str(short / "tmp"),
    ]
    command += ["--storage-driver", "overlay", "--log-level", "error"]
    socket = short / "podman.sock"
    # as our own daemon is started: below a chroot, what runs in a container would land in the host's root
    at_the_root = [sys.executable, "-I", rooted.__file__]
    service = subprocess.Popen(
        [*at_the_root, *command, "system", "service", "--time=0", f"unix://{socket}"],
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _START_S
        while knock(socket) is not None:
            assert service.poll() is None and time.monotonic() < deadline, "podman's service did not start"
            time.sleep(0.05)
        yield f"unix://{socket}"
    finally:
        remote = [command[0], "--remote", "--url", f"unix://{socket}", "rm", "--all", "--force", "--time=0"]
        subprocess.run(remote, env=environment, check=False, capture_output=True)  # its mounts are in its namespace
        service.terminate()
        service.wait(timeout=30)
        _end_all(short)
        mounts.detach(reversed(mounts.points(storage)))
        shutil.rmtree(short, ignore_errors=True)


def _end_all(short: Path) -> None:
    """End the monitors that outlive their containers and execs; one that ends may start a last clean-up."""
    deadline = time.monotonic() + _START_S
    while (left := processes_of(short)) and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.1)


def processes_of(short: Path) -> list[int]:
    """The processes that a service left, by its run folder, whose name is random, in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # processes come and go while we look
            if os.fsencode(short) in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


@contextmanager
def podman_engine(folder: Path) -> Iterator[Engine]:
    """An engine on such a service, found as a user's would be."""
    with podman_service(folder) as address:
        nowhere = folder / "no.sock"
        here = Surroundings(
            environ={"CONTAINER_HOST": address}, home=folder, docker_socket=nowhere, podman_socket=nowhere
        )
        with connect(start=False, surroundings=here) as engine:
            yield engine


def main(arguments: list[str]) -> int:
    """See the module's docstring."""
    match arguments:
        case ["install"]:
            install()
        case ["serve", folder]:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            with podman_service(Path(folder).absolute()) as address:
                print(f"DOCKER_HOST={address}", flush=True)
                try:
                    signal.pause()
                except KeyboardInterrupt:
                    return 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

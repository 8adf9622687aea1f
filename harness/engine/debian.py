"""Debian's own Docker package: installed only where no engine is found, and without its service."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.errors import InfraError

PACKAGE = "docker.io"
COMMAND = f"apt-get install -y --no-install-recommends {PACKAGE}"
"""What a user types to do the same by hand."""

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where daemons live; a user's PATH often lacks the sbin folders."""

_TIMEOUT_S = 1800
_OPTIONS = ("-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0")
_SYSTEMD = Path("/run/systemd/system")
_APPARMOR = Path("/sys/module/apparmor/parameters/enabled")
_UNITS = {"docker.io": ("docker.service", "docker.socket"), "containerd": ("containerd.service",)}


def installed(program: str) -> bool:
    """Whether a system program is there."""
    return shutil.which(program, path=SYSTEM_PATH) is not None


def distributions(os_release: Path = Path("/etc/os-release")) -> frozenset[str]:
    """This system's ``ID`` and ``ID_LIKE``, for example ``{"ubuntu", "debian"}``; empty where unknown."""
    try:
        text = os_release.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    words = f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', " ").replace("'", " ")
    return frozenset(words.lower().split())


def install_docker(notify: Callable[[str], None]) -> None:
    """Install ``docker.io`` by apt, without starting or enabling its service.

    Debian starts a service as it installs it; this one would rewrite the host's packet filter. So systemd's tools are
    told that they run offline while the package is set up, and the units that came with it are disabled afterwards;
    ``systemctl enable --now docker`` is the way back.

    Raises:
        InfraError: apt failed; its own error line is passed on.
    """
    packages = [PACKAGE]
    if _apparmor_enforced() and not installed("apparmor_parser"):
        packages.append("apparmor")  # dockerd can't start a container without it where the kernel enforces AppArmor
    new_units = [*_UNITS["docker.io"], *(() if installed("containerd") else _UNITS["containerd"])]
    notify(f"no container engine found: installing {' and '.join(packages)}")
    _apt("update", check=False)  # one dead mirror must not stop an install that the others can serve
    _apt("install", "-y", "--no-install-recommends", *packages, check=True)
    if _SYSTEMD.is_dir():
        subprocess.run(["systemctl", "--quiet", "disable", *new_units], env=_environment(), check=False, timeout=60)


def _apparmor_enforced() -> bool:
    try:
        return _APPARMOR.read_text(encoding="ascii").startswith("Y")
    except OSError:
        return False


def _environment() -> dict[str, str]:
    return os.environ | {
        "PATH": SYSTEM_PATH,
        "DEBIAN_FRONTEND": "noninteractive",
        "NEEDRESTART_SUSPEND": "1",
        "SYSTEMD_OFFLINE": "1",
        "LC_ALL": "C",
    }


def _apt(*arguments: str, check: bool) -> None:
    command = ["apt-get", *_OPTIONS, *arguments]
    try:
        done = subprocess.run(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(
            "apt-get", f"can't install {PACKAGE}: {error}", f"run `{COMMAND}` and read its output"
        ) from error
    if check and done.returncode != 0:
        lines = [line.strip() for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if line.startswith("E:")), lines[-1] if lines else "no output")
        raise InfraError(
            "apt-get", f"can't install {PACKAGE}: {reason}", f"run `apt-get update && {COMMAND}` and read its output"
        )

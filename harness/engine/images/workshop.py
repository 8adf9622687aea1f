"""Where Debian's tools run: on this host, or in a throwaway builder container."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Protocol

from harness.errors import InfraError

SCRIPT = Path(__file__).with_name("debian.sh")


class Workshop(Protocol):
    """A folder on some Debian-family system, and ``debian.sh`` at work in it."""

    def run(self, verb: str, *arguments: str) -> str:
        """Run a verb and return what it printed; InfraError carries the last line of its complaints."""

    def put(self, name: str, path: Path) -> None:
        """Copy a file into the folder under a relative name."""

    def get(self, name: str, path: Path) -> None:
        """Copy a file, or a folder's files, out of the folder; a missing one gives nothing."""


class HostWorkshop:
    """This very host, as the user who runs us."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("apt-get") is None:
            raise InfraError(
                "images", "this host has no apt to build from Debian packages", "name a Debian image with --builder"
            )
        self.folder = folder

    def run(self, verb: str, *arguments: str) -> str:
        command = ["/bin/sh", str(SCRIPT), verb, str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise complaint(verb, done.stderr)
        return done.stdout

    def put(self, name: str, path: Path) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)

    def get(self, name: str, path: Path) -> None:
        source = self.folder / name
        if source.is_dir():
            shutil.copytree(source, path, dirs_exist_ok=True)
        elif source.is_file():
            source.replace(path)


def complaint(verb: str, stderr: str) -> InfraError:
    """One line for a failed verb."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E:")] or lines or ["it failed without a word"]
    return InfraError(f"images: {verb}", errors[0].removeprefix("E:").strip()[:300], "see docs/images.md")

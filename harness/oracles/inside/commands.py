"""What the driver does for ``commands``: a program in a fresh folder, and what it leaves there."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.oracles.inside.processes import end_all, limit_worker

Json = Any


@dataclass(frozen=True)
class Limits:
    """Seconds for one item, the moment (of the monotonic clock) at which everything stops, bytes of one answer."""

    item_s: float
    deadline: float
    max_bytes: int

    @property
    def file_bytes(self) -> int:
        """The most that a candidate may write to one file."""
        return 4 * self.max_bytes

    def left(self) -> float:
        """Seconds until everything stops; negative after it."""
        return self.deadline - time.monotonic()

    def until(self) -> float:
        """When an item that starts now must be done."""
        return min(time.monotonic() + self.item_s, self.deadline)


def run_command(command: dict[str, Json], folder: str, workspace: str, limits: Limits) -> tuple[str, Json]:
    """Run one command; its state and, if it ended by itself, ``{status, stdout, files}``.

    Raises:
        OSError: there is no such program, or no room for it.
    """
    place = Path(folder, "work")
    place.mkdir()
    for name, content in command["files"].items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(command["stdin"].encode())
        given.seek(0)
        until = limits.until()
        program = subprocess.Popen(
            command["argv"],
            cwd=place,
            stdin=given,
            stdout=said,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": workspace},
            start_new_session=True,
            preexec_fn=lambda: limit_worker(limits.file_bytes),  # noqa: PLW1509 - the driver has no threads
        )
        try:
            status = program.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return "timeout", None
        finally:
            end_all(program.pid)
            program.wait()
        if os.fstat(said.fileno()).st_size > limits.max_bytes:
            return "flood", None
        said.seek(0)
        stdout = as_text(said.read(limits.max_bytes))
    files = {name: read_back(place, name, limits.max_bytes) for name in command["outputs"]}
    return "answered", {"status": status, "stdout": stdout, "files": files}


def as_text(data: bytes) -> Json:
    """Text, or what it is instead."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"unreadable": "not_text"}


def read_back(place: Path, name: str, most: int) -> Json:
    """A file that a command left, reached through no link: its text, None if absent, or what it is instead."""
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        *parents, last = name.split("/")
        for part in parents:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError:
        return {"unreadable": "not_a_file"}
    finally:
        os.close(folder)
    with os.fdopen(file, "rb") as opened:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            return {"unreadable": "not_a_file"}
        return as_text(opened.read(most)) if about.st_size <= most else {"unreadable": "too_large"}

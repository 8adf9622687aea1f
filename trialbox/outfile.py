"""The file of ``--out``: checked before anything runs, written when all is done."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import UserError
from harness.files import atomic_write
from harness.state import State


def check_out(out: str, state: State) -> Path:
    """Where the card will be written; links are followed, so that what they name is replaced and not they.

    A card that can't be written where it was asked for is no reason to lose an hour, and what is there may be no file.

    Raises:
        UserError: it is a folder, a device or the like, in the state folder, or in a folder that can't be written.
    """
    path = Path(out).resolve()
    if path.is_dir():
        raise UserError("--out", f"{out} is a folder", "name a file in it")
    if path.exists() and not path.is_file():
        raise UserError("--out", f"{out} is no regular file", "name one; --json prints to standard output")
    if path.is_relative_to(state.root.resolve()):
        raise UserError("--out", f"{out} is in the state folder, which keeps the card anyway", "name a file elsewhere")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError("--out", f"{path.parent} is no folder that can be written", "create it, or name another")
    return path


def write_out(out: str, data: bytes, state: State) -> None:
    """Write it, if it is still as it was when it was checked.

    Raises:
        UserError: it is not.
        StorageError: the disk refuses.
    """
    atomic_write(check_out(out, state), data)

"""Folders that appear whole or not at all: written beside their place under another name, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError
from harness.files import storage_error
from harness.suites.tree import LINK, Tree


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """A folder to fill, of the same name as *output*, that becomes *output* when the block ends without an error.

    Raises:
        UserError: there is something at *output* already.
        StorageError: the disk is full, or the place can't be written.
    """
    if output.exists() or output.is_symlink():
        raise UserError(str(output), "exists already", "name a folder that does not, with --output")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{output.name[:40]}.", suffix=".tmp", dir=output.parent))
        try:
            made = scratch / output.name
            made.mkdir()
            yield made
            made.rename(output)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise storage_error(output, error) from error


def write_tree(tree: Tree, folder: Path) -> None:
    """Write a tree's files and links under *folder*.

    Raises:
        OSError: a file can't be written.
    """
    for path, entry in tree.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == LINK:
            place.symlink_to(os.fsdecode(entry.data))
        else:
            place.write_bytes(entry.data)
            place.chmod(entry.mode)

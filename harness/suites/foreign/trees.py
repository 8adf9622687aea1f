"""Trees that imports start from: a commit of a local clone, a plain folder, or a folder of an image.

A clone is read by git's plumbing in a sealed container of ours that holds nothing else: no hook, filter, attribute or
setting of it takes part, and nothing of it runs on the host.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from harness.engine.client import Engine
from harness.engine.sandbox import Sandbox
from harness.engine.spec import ROOT_USER, BindMount, Role, SandboxSpec
from harness.errors import UserError
from harness.suites.foreign.draft import Note
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree, is_by_product, read_tree
from harness.untrusted import Refused, parse_listing, read_archive, refuse_escaping_link, refuse_listing

MAX_BYTES = 2 << 30
MAX_ENTRIES = 200_000
_GIT = (
    "git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.commitGraph=false "
    "-c protocol.allow=never"
)
_LIST = (
    "set -e; d=/repo; [ -e $d/HEAD ] || d=/repo/.git; exec env GIT_DIR=$d " + _GIT + ' ls-tree -r -z --full-tree "$0"'
)
_CAT = "set -e; d=/repo; [ -e $d/HEAD ] || d=/repo/.git; exec env GIT_DIR=$d " + _GIT + " cat-file --batch"
_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
_MODES = {b"100644": REGULAR, b"100664": REGULAR, b"100755": EXECUTABLE, b"120000": LINK}
_STREAM = (
    r'find . -xdev -mindepth 1 -path ./.git -prune -o -printf "%y%d\n" >&2 || exit 9; '
    "exec tar --create --format=gnu --numeric-owner --one-file-system --anchored --exclude=./.git --file=- ."
)


def find_repository(repos: Path, name: str) -> Path:
    """The clone or folder of ``owner/name`` under *repos*: ``owner/name``, ``owner__name`` or ``name``.

    Raises:
        UserError: there is none.
    """
    owner, _, short = name.rpartition("/")
    for candidate in (name, f"{owner}__{short}", f"{owner}-{short}", short, f"{short}.git", f"{owner}__{short}.git"):
        folder = repos / candidate
        if candidate and ".." not in candidate.split("/") and folder.is_dir():
            return folder
    raise UserError(
        str(repos), f"holds no repository {name!r}", f"clone it to {owner}__{short} there, or leave --repos out"
    )


def is_git(folder: Path) -> bool:
    """Whether a folder is a clone, bare or not."""
    return (folder / ".git").is_dir() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def read_repository(
    engine: Engine, base_image: str, folder: Path, commit: str, owner: str, where: str
) -> tuple[Tree, tuple[Note, ...]]:
    """The tree of a commit, or of a plain folder as it is, and what of it could not be carried.

    Raises:
        UserError: no such commit in the clone, or the tree can't be one of ours.
    """
    if not is_git(folder):
        return read_tree(folder), (
            Note("commit", f"{folder.name} is a plain folder, taken as it is for {commit[:12]}"),
        )
    if not re.fullmatch(r"[0-9a-f]{7,64}", commit):
        raise UserError(f"{where}: base_commit", f"{commit[:40]!r} is no commit id", "expected 7 to 64 hex digits")
    spec = SandboxSpec(
        role=Role.PREPARE,
        image=base_image,
        user=ROOT_USER,
        cap_add=("DAC_READ_SEARCH",),
        binds=(BindMount(source=str(folder.resolve()), target="/repo"),),
        memory_mb=1024,
        workdir="/",
    )
    with Sandbox(engine, spec, owner) as sandbox:
        listed = sandbox.run(("sh", "-c", _LIST, commit), timeout_s=300, max_output=256 << 20, env=_ENV)
        if listed.exit_status != 0 or listed.cut:
            said = listed.stderr.decode("utf-8", "replace").strip().splitlines()
            raise UserError(
                f"{where}: base_commit",
                f"{commit[:12]} can't be read from {folder} ({said[-1][:120] if said else 'git failed'})",
                "fetch it into a clone that stands alone",
            )
        found, notes = _parse_listing(listed.stdout)
        ids = b"".join(blob + b"\n" for _, _, blob in found)
        cat = sandbox.run(("sh", "-c", _CAT), stdin=ids, timeout_s=600, max_output=MAX_BYTES, env=_ENV)
    if cat.exit_status != 0 or cat.cut:
        raise UserError(str(folder), f"the files of {commit[:12]} can't be read whole", "is the clone partial?")
    blobs = _parse_batch(cat.stdout, str(folder))
    return _tree(((path, mode, next(blobs)) for path, mode, _ in found), where, notes)


def _parse_listing(data: bytes) -> tuple[list[tuple[str, int, bytes]], list[Note]]:
    found: list[tuple[str, int, bytes]] = []
    modules = 0
    for line in filter(None, data.split(b"\0")):
        head, _, path = line.partition(b"\t")
        mode, _, blob = head.split(b" ")
        if mode not in _MODES:
            modules += 1
            continue
        found.append((path.decode("utf-8", "surrogateescape"), _MODES[mode], blob))
    return found, [Note("submodules", f"{modules} submodules are empty")] if modules else []


def _parse_batch(data: bytes, where: str) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        end = data.index(b"\n", place)
        words = data[place:end].split(b" ")
        if len(words) != 3:
            raise UserError(where, "lacks an object of that commit", "fetch it into a full clone")
        start = end + 1
        place = start + int(words[2]) + 1
        yield data[start : place - 1]


def read_image_folder(engine: Engine, image: str, folder: str, owner: str, where: str) -> tuple[Tree, tuple[Note, ...]]:
    """What lies in a folder of an image, less its git store.

    Raises:
        UserError: it can't be read, or the tree can't be one of ours.
    """
    spec = SandboxSpec(
        role=Role.PREPARE, image=image, user=ROOT_USER, cap_add=("DAC_READ_SEARCH",), memory_mb=512, workdir="/"
    )
    with Sandbox(engine, spec, owner) as sandbox, tempfile.TemporaryFile() as spool:
        read = sandbox.run(
            ("sh", "-c", _STREAM),
            timeout_s=600,
            max_output=64 << 20,
            workdir=folder,
            consume=lambda data: _keep(spool, data),
        )
        if read.exit_status != 0:
            raise UserError(where, f"{folder} of the image can't be read", "does the image have GNU find and tar?")
        spool.seek(0)
        try:
            listing = parse_listing(read.stderr)
            refuse_listing(listing, max_entries=MAX_ENTRIES)
            tree = read_archive(spool, listing, max_bytes=MAX_BYTES).tree
        except Refused as refused:
            raise UserError(
                where, f"{folder} of the image is no tree of ours: {refused.reason.value} {refused.detail}", ""
            ) from refused
    return _tree(((path, one.mode, one.data) for path, one in tree.items()), where, [])


def _keep(spool: IO[bytes], data: bytes) -> None:
    spool.write(data)


def _tree(parts: Iterator[tuple[str, int, bytes]], where: str, notes: list[Note]) -> tuple[Tree, tuple[Note, ...]]:
    """The tree that can be one of ours; links that leave it stay behind, by name."""
    entries, links = [], []
    for path, mode, data in parts:
        if any(map(is_by_product, path.split("/"))):
            continue
        try:
            if mode == LINK:
                refuse_escaping_link(path, data)
            entries.append(Entry(path, mode, data))
        except Refused:
            links.append(path)
        except ValueError as error:
            raise UserError(where, str(error), "a task's tree holds plain UTF-8 names alone") from error
    if links:
        notes.append(Note("links", f"{len(links)} links that leave the tree are not in it, such as {links[0]}"))
    return Tree(entries), tuple(notes)

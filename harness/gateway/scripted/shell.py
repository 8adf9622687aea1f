"""Shell commands that leave exact bytes behind, whatever they are; they need a POSIX shell and coreutils."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterable, Iterator

from harness.gateway.scripted.script import WriteSpec

MAX_COMMAND = 60_000
"""Bytes of one command: a program's argument may have 128 KiB, and clients wrap commands in more text."""
_PIECE = 30_000
"""Bytes of a file in one command: 40,000 characters of base64."""
_DIFF = "/tmp/scripted.patch"  # noqa: S108 - in the client's container


def write(one: WriteSpec) -> Iterator[str]:
    """Commands that, run in order, make a file of the current folder what it is to be.

    The first removes what is there, so that a link is replaced, never written through.
    """
    path = _place(one.path)
    first, *rest = _pieces(one.data, path)
    yield f"{_folder(one.path)}{_gone(path)}; {first}"
    yield from rest
    if one.executable:
        yield f"chmod 755 -- {path}"


def link(path: str, target: bytes) -> str:
    """A command that makes a symbolic link."""
    place = _place(path)
    named = shlex.quote(target.decode("utf-8", "surrogateescape"))
    return f"{_folder(path)}{_gone(place)}; ln -s -- {named} {place}"


def delete(path: str) -> str:
    """A command that removes a file."""
    return _gone(_place(path))


def apply_diff(diff: bytes) -> Iterator[str]:
    """Commands that, run in order, apply a diff to the current folder by git."""
    apply = "git apply --whitespace=nowarn"
    yield _gone(_DIFF)
    yield from _pieces(diff if diff.endswith(b"\n") else diff + b"\n", _DIFF)
    yield f"{apply} -p1 {_DIFF} || {apply} -p0 {_DIFF}; {_gone(_DIFF)}"


def packed(commands: Iterable[str]) -> list[str]:
    """The commands, in order, in as few as may be."""
    packs: list[str] = []
    for command in commands:
        if packs and len(packs[-1].encode()) + len(command.encode()) < MAX_COMMAND:
            packs[-1] += f"\n{command}"
        else:
            packs.append(command)
    return packs


def _pieces(data: bytes, path: str) -> Iterator[str]:
    """Commands that append bytes to a file, which comes to be if there are none."""
    for at in range(0, max(len(data), 1), _PIECE):
        piece = base64.b64encode(data[at : at + _PIECE]).decode()
        yield f"printf %s '{piece}' | base64 -d >> {path}"


def _gone(place: str) -> str:
    """A command after which there is no such file. Some clients refuse to run ``rm -f``."""
    return f"unlink {place} 2>/dev/null"


def _place(path: str) -> str:
    """A path as a word; one that begins with a hyphen is no option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _folder(path: str) -> str:
    """The beginning of a command for a file: its folder."""
    folder = path.rpartition("/")[0]
    return f"mkdir -p -- {_place(folder)} && " if folder else ""

"""Payloads in a repository's own git store, each of which has its effect on whatever machine runs git there.

A payload is planted by shell, at the top of a repository with one commit, by a solver in its container. Its effect is a
mark (an empty file ``ran-NAME`` in a folder of the host), or that git shows what isn't so. ``{folder}`` is the host's
folder, which is not there in the container; in it lies ``store``, an ordinary repository of the host (``HOST``).
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.outcomes import Rejection
from tests.attacks.pair import Engine
from tests.attacks.workshop import Workshop


@dataclass(frozen=True)
class Payload:
    """One thing planted; ``command`` is ordinary use of git, by which it works; ``shows`` is what git then says."""

    name: str
    plant: str
    command: str
    shows: str = ""


@dataclass(frozen=True)
class Planting:
    """Payloads that bear one another, in one tree; ``rejected`` is what becomes of such a tree."""

    name: str
    payloads: Sequence[Payload]
    rejected: Rejection | None = None


HOST = """
git init -q -b main store; cd store; git config user.email h@host.test; git config user.name h
echo 'a packed text of the host' > packed; git add .; git commit -qm first; git branch of-the-host; git gc -q
echo 'a text of the host' > text; git add .; git commit -qm 'a commit of the host'
"""
_TOOLS = """
program() {
    printf '#!/bin/sh\\ntouch "{folder}/ran-%s" 2> /dev/null || :\\n%s\\n' "$1" "$2" > "${3:-.git}/$1"
    chmod 755 "${3:-.git}/$1"
}
changed() { mkdir -p x; echo one > "x/$1"; git add "x/$1"; git commit -qm "$1"; echo two > "x/$1"; }
repository() {
    git init -q --template= "$1"; mkdir -p "$1/.git/info" "$1/.git/hooks" "$1/.git/objects/pack"
    git -C "$1" config user.email a@example.test; git -C "$1" config user.name a
    git -C "$1" config maintenance.auto false
}
repository .; git add -A; git commit -qm work
"""
"""A commit is to leave no process behind that tidies up after it.

``program NAME [THEN [FOLDER]]`` makes a program that leaves its mark; ``changed FILE`` a file with a difference."""


def script(planting: Planting, folder: Path) -> str:
    """Shell that plants all of it in the repository here, for a host with its marks in *folder*."""
    lines = (_TOOLS, *(payload.plant for payload in planting.payloads))
    return "\n".join(lines).replace("{folder}", str(folder))


def host(folder: Path) -> None:
    """Make the host's folder, where a mark can be left by anybody."""
    folder.mkdir()
    folder.chmod(0o777)
    subprocess.run(["sh", "-c", HOST], cwd=folder, capture_output=True, check=True, timeout=60)


def marks(folder: Path) -> list[str]:
    """The names of the payloads that had their effect."""
    return sorted(one.name.removeprefix("ran-") for one in folder.glob("ran-*"))


def planted(*plantings: Planting) -> Engine:
    """Attempts that plant these, one each, whose payloads would leave their marks on the host."""

    def work(workshop: Workshop) -> Iterator[str]:
        left: list[str] = []
        for planting in plantings:
            folder = workshop.folder / f"marks-{secrets.token_hex(8)}"
            host(folder)
            yield from workshop.facts(workshop.solve(f"fix\n{script(planting, folder)}\ntrue"))
            left += marks(folder)
        yield f"host: {', '.join(left)}" if left else "host: no trace"

    return Engine(work)

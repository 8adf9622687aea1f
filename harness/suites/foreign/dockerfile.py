"""The little of a Dockerfile that can be read without a build: where it works, and what it copies there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.errors import UserError
from harness.suites.parse import read_bytes
from harness.suites.tree import EXECUTABLE, REGULAR, Entry, Tree, read_tree


@dataclass(frozen=True)
class Recipe:
    """``copied`` is the tree under ``workdir`` that plain COPY lines make; ``other`` count as well."""

    base: str
    workdir: str
    copied: Tree
    other: tuple[str, ...]


def read_dockerfile(path: Path, workdir: str | None = None) -> Recipe:
    """Read FROM, WORKDIR and plain COPY; *workdir* overrides the last.

    Raises:
        UserError: it can't be read, or copies a file that isn't there.
    """
    text = read_bytes(path).decode("utf-8", "replace")
    base, here = "scratch", "/"
    copies: list[tuple[str, list[str]]] = []
    other: list[str] = []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        match word.upper():
            case "" | "#" | "CMD" | "ENTRYPOINT" | "LABEL" | "SHELL" | "ARG" | "EXPOSE":
                continue
            case "FROM":
                base, here, copies, other = rest.split()[0] if rest.split() else base, "/", [], []
            case "WORKDIR":
                here = str(PurePosixPath(here) / rest.strip().strip("\"'"))
            case "COPY" | "ADD" if "--from" not in rest and "://" not in rest:
                copies.append((here, _words(rest)))
            case _ if not word.startswith("#"):
                other.append(line.strip()[:120])
    place = workdir or here
    return Recipe(base, place, _copied(path.parent, place, copies), tuple(other))


def _words(rest: str) -> list[str]:
    if rest.strip().startswith("["):
        try:
            found = json.loads(rest)
        except ValueError:
            found = []
        return [word for word in found if isinstance(word, str)]
    return [word for word in rest.split() if not word.startswith("--")]


def _copied(context: Path, workdir: str, copies: list[tuple[str, list[str]]]) -> Tree:
    tree = Tree()
    for here, words in copies:
        if len(words) < 2:
            continue
        target = PurePosixPath(here) / words[-1]
        for source in words[:-1]:
            for path, entry in _source(context, source, target, into=words[-1].endswith(("/", ".")) or len(words) > 2):
                if path.is_relative_to(workdir):
                    inside = str(path.relative_to(workdir))
                    tree = tree.overlay(Tree([Entry(inside, entry.mode, entry.data)]))
    return tree


def _source(context: Path, source: str, target: PurePosixPath, *, into: bool) -> list[tuple[PurePosixPath, Entry]]:
    named = context / source.lstrip("/")
    try:
        place = named.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no file can have
        return []
    if ".." in PurePosixPath(source).parts or not place.is_relative_to(context.resolve()):
        raise UserError(str(context), f"COPY {source} leaves the build context", "correct the Dockerfile")
    if place.is_dir():
        skipped = {"Dockerfile", "docker-compose.yaml"} if place == context.resolve() else set()
        return [(target / path, one) for path, one in read_tree(place).items() if path not in skipped]
    if not place.is_file():
        return []  # a pattern, or something that only the build has: the note on the Dockerfile stands for it
    mode = EXECUTABLE if place.stat().st_mode & 0o100 else REGULAR
    name = target / named.name if into else target
    return [(name, Entry(named.name, mode, read_bytes(place)))]

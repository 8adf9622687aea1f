"""A task on its way into one of our suites: what was read, what could not be carried, and the folder it becomes."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.digest import sha256_bytes
from harness.records import Limits, to_value
from harness.suites.edits import difference
from harness.suites.foreign.toml import dump_toml
from harness.suites.formats.foreign import Dialect, PinnedImage
from harness.suites.limits import HEADROOM_MB
from harness.suites.tree import REGULAR, Entry, Tree

MAX_NAME = 48


@dataclass(frozen=True)
class Note:
    """Something that an import could not carry, or carries at a price: its name, and what that means here."""

    name: str
    meaning: str

    def __str__(self) -> str:
        text = re.sub(r"[\x00-\x1f\x7f]+", " ", f"{self.name}: {self.meaning}")
        return text if len(text) <= 400 else text[:397] + "..."


@dataclass(frozen=True)
class TaskFolder:
    """A task as the files of its folder."""

    id: str
    origin: str
    dialect: Dialect
    files: Tree
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Draft:
    """A task of another benchmark, read. ``reference`` is the whole tree with the known-good fix, None without one."""

    dialect: Dialect
    origin: str
    prompt: str
    before: Tree
    reference: Tree | None
    hidden: Tree
    groups: tuple[Mapping[str, Any], ...]
    image: str
    workspace: str
    created: datetime.date
    pinned: PinnedImage | None = None
    delete_at_grading: tuple[str, ...] = ()
    project: str = "unknown"
    fix: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    """What the task itself asks for; the rest is :func:`limits_for`."""
    notes: tuple[Note, ...] = ()

    def folder(self) -> TaskFolder:
        """The files of the task's folder."""
        overlay, delete = difference(self.before, self.reference) if self.reference is not None else (Tree(), ())
        spec: dict[str, Any] = {
            "schema": 1,
            "format": "foreign",
            "title": one_line(self.origin),
            "image": self.image,
            "workspace": self.workspace,
            "has_reference": self.reference is not None,
            "delete_at_grading": list(self.delete_at_grading),
            "origin": {
                "dialect": self.dialect.value,
                "id": one_line(self.origin),
                "not_carried": [str(note) for note in self.notes],
            },
            "pinned_image": to_value(self.pinned) if self.pinned else None,
            "provenance": {
                "author_kind": "upstream",
                "created": self.created,
                "licence": "unknown: see the project it came from",
                "decontaminated": False,
                "upstream": {"project": one_line(self.project), "fix": self.fix},
            },
            "limits": to_value(limits_for(self.before, self.limits)),
            "reference": {"delete": list(delete)},
            "groups": [dict(group) for group in self.groups],
        }
        parts = [
            Entry("task.toml", REGULAR, dump_toml(spec).encode()),
            Entry("issue.md", REGULAR, self.prompt.encode()),
            *under("before", self.before),
            *under("reference", overlay),
            *under("hidden", self.hidden),
        ]
        return TaskFolder(task_id(self.origin), self.origin, self.dialect, Tree(parts), self.notes)


def under(folder: str, tree: Tree) -> list[Entry]:
    """The entries of a tree, inside a folder."""
    return [Entry(f"{folder}/{path}", one.mode, one.data) for path, one in tree.items()]


def text_file(path: str, text: str, mode: int = REGULAR) -> Entry:
    """A text as a file of a tree."""
    return Entry(path, mode, text.encode())


def names_file(path: str, names: Iterable[str]) -> Entry:
    """A list of tests as a file of a tree."""
    return text_file(path, json.dumps(list(names), indent=1, ensure_ascii=False) + "\n")


def test_groups(passing: Iterable[str], how: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The behaviour group of what must begin to pass, and the regression group of what must go on passing."""
    groups = [{"name": "fail-to-pass", "kind": "behaviour", "tests": "hidden/fail-to-pass.json", **how}]
    if list(passing):
        groups.append({"name": "pass-to-pass", "kind": "regression", "tests": "hidden/pass-to-pass.json", **how})
    return groups


def test_lists(fail: Iterable[str], passing: Iterable[str]) -> list[Entry]:
    """The files that those groups name."""
    passing = list(passing)
    return [
        names_file("fail-to-pass.json", fail),
        *([names_file("pass-to-pass.json", passing)] if passing else []),
    ]


def limits_for(before: Tree, asked: Mapping[str, int]) -> Limits:
    """Room for the tree and what is built in it; other benchmarks give an hour and gigabytes rather than a minute."""
    size_mb = before.size >> 20
    workspace_mb = max(256, 3 * size_mb + 128)
    inodes = max(50_000, 2 * before.inodes)
    base = {
        "grade_wall_s": 1800,
        "workspace_mb": workspace_mb,
        "workspace_inodes": inodes,
        "tmp_mb": 256,
        **asked,
    }
    made = Limits.model_validate(base)
    least = made.workspace_mb + made.home_mb + made.tmp_mb + (made.workspace_inodes + made.home_inodes) // 1024 + 1
    wanted = max(asked.get("memory_mb", 2048), least + HEADROOM_MB)
    return made.model_copy(update={"memory_mb": wanted})


def task_id(origin: str) -> str:
    """A task id made of another benchmark's: lowercase words and hyphens; a digest where that loses too much."""
    words = "-".join(re.findall(r"[a-z0-9]+", origin.lower()))
    if not words or not words[0].isalpha():
        words = f"t-{words}".rstrip("-")
    if len(words) <= MAX_NAME:
        return words
    mark = sha256_bytes(origin.encode()).removeprefix("sha256:")[:8]
    return f"{words[: MAX_NAME - 9].rstrip('-')}-{mark}"


def one_line(text: str) -> str:
    """A text as one line of at most 400 characters, for titles and ids."""
    return (re.sub(r"[\x00-\x1f\x7f]+", " ", text).strip() or "unknown")[:400]

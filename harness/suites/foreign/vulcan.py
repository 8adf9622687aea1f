"""VulcanBench's task folders: ``metadata.json``, ``issue.md``, a tree, ``tests/``, ``gold_patch.diff``."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import UserError
from harness.suites.foreign.context import Context, reference_notes
from harness.suites.foreign.draft import Draft, Note, TaskFolder, task_id
from harness.suites.foreign.harbor import prompt_of
from harness.suites.foreign.swebench_commands import script_notes
from harness.suites.foreign.trees import MAX_BYTES, MAX_ENTRIES
from harness.suites.formats.foreign import Dialect
from harness.suites.parse import parse_json, read_bytes
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree, is_by_product, read_tree

SNAPSHOTS = ("repo_snapshot.tar.gz", "snapshot.tar.gz", "repo.tar.gz")
# The benchmark's own image has a `python`, and its commands use it; a recipe of ours may have `python3` alone.
_PYTHON = 'command -v python >/dev/null || python() { python3 "$@"; }\n'


class Test(BaseModel):
    """One test: passed if its command exits with 0."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: Annotated[str, Field(min_length=1)]
    cmd: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")]


class Tests(BaseModel):
    """What must begin to pass, and what must go on passing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    fail_to_pass: Annotated[tuple[Test, ...], Field(min_length=1)]
    pass_to_pass: tuple[Test, ...] = ()


class VulcanTask(BaseModel):
    """``metadata.json``, as far as it moves a score or tells where the task is from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tests: Tests
    id: str | None = None
    source: str | None = None
    decontaminated: bool | None = None
    base_commit: str | None = None
    upstream: dict[str, Any] | None = None
    setup: Any = None
    setup_commands: Any = None


def import_vulcan(folder: Path, context: Context) -> TaskFolder:
    """One task folder as one of our tasks.

    Raises:
        UserError: a file is missing or malformed.
    """
    where = folder / "metadata.json"
    spec = parse_json(VulcanTask, read_bytes(where), str(where))
    environment, image_notes = context.environment([])
    before = _before(folder)
    tests = read_tree(folder / "tests") if (folder / "tests").is_dir() else Tree()
    gold = folder / "gold_patch.diff"
    fixed = context.patched(before, _text(gold), str(gold)) if gold.is_file() else None
    prelude = "" if environment.pinned else _PYTHON
    groups = [
        {
            "name": name,
            "kind": kind,
            "oracle": "exit_status",
            "argv": ["sh", "-c", prelude + test.cmd],
        }
        for kind, listed in (("behaviour", spec.tests.fail_to_pass), ("regression", spec.tests.pass_to_pass))
        for name, test in _unique(listed, "must-" if kind == "behaviour" else "keeps-")
    ]
    commands = "\n".join(test.cmd for test in (*spec.tests.fail_to_pass, *spec.tests.pass_to_pass))
    upstream = spec.upstream or {}
    created, day_notes = context.day()
    return Draft(
        dialect=Dialect.VULCAN_BENCH,
        origin=spec.id or folder.name,
        prompt=prompt_of(folder / "issue.md"),
        before=before,
        reference=fixed,
        hidden=Tree(Entry(f"tree/{path}", one.mode, one.data) for path, one in tests.items()),
        groups=tuple(groups),
        image=environment.name,
        pinned=environment.pinned,
        workspace="/workspace",
        created=created,
        project=str(upstream.get("url") or spec.source or "unknown"),
        fix=str(upstream["fix_commit"])[:400] if upstream.get("fix_commit") else None,
        notes=(*image_notes, *day_notes, *_notes(spec), *script_notes(commands), *reference_notes(before, fixed)),
    ).folder()


def _unique(tests: tuple[Test, ...], prefix: str) -> Iterator[tuple[str, Test]]:
    """Each test under a name of its own; a number parts those whose names come to the same."""
    seen: set[str] = set()
    for test in tests:
        name = task_id(prefix + test.name)
        numbered = (f"{name[:42].rstrip('-')}-{number}" for number in count(2))
        unique = next(one for one in chain([name], numbered) if one not in seen)
        seen.add(unique)
        yield unique, test


def _before(folder: Path) -> Tree:
    if (folder / "repo").is_dir():
        return read_tree(folder / "repo")
    places = [folder / name for name in SNAPSHOTS]
    found = next((one for one in places if one.is_file() and not one.is_symlink()), None)
    if found is None:
        raise UserError(str(folder / "repo"), "is missing", f"expected a folder, or one of {', '.join(SNAPSHOTS)}")
    return _snapshot(found)


def _snapshot(path: Path) -> Tree:
    """The tree in a gzipped tar; one folder around everything is taken off, and a git store is left out."""
    try:
        entries = list(_members(path))
        tops = {entry.path.split("/")[0] for entry in entries}
        if len(tops) == 1 and all("/" in entry.path for entry in entries):
            entries = [Entry(entry.path.split("/", 1)[1], entry.mode, entry.data) for entry in entries]
        return Tree(entries)
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise UserError(str(path), f"is no gzipped tar: {error}", "make it again") from error
    except ValueError as error:
        raise UserError(str(path), str(error), "a task's tree holds plain UTF-8 names alone, each once") from error


def _members(path: Path) -> Iterator[Entry]:
    """The files and links, as long as they are no more than an import reads."""
    size = 0
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes()), mode="r:gz") as tar:
        for number, member in enumerate(tar):
            name = member.name.removeprefix("./").rstrip("/")
            size += member.size
            if size > MAX_BYTES or number >= MAX_ENTRIES:
                raise UserError(str(path), f"holds over {MAX_BYTES >> 20} MiB or {MAX_ENTRIES} entries", "leave it out")
            if member.isdir() or any(part == ".git" or is_by_product(part) for part in name.split("/")):
                continue
            if member.issym():
                yield Entry(name, LINK, member.linkname.encode("utf-8", "surrogateescape"))
            elif member.isreg():
                source = tar.extractfile(member)
                yield Entry(name, EXECUTABLE if member.mode & 0o100 else REGULAR, source.read() if source else b"")
            else:
                raise UserError(f"{path}: {name}", "is neither a file, a folder nor a link", "leave it out")


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UserError(str(path), "is not UTF-8 text", "save it as UTF-8") from error


def _notes(spec: VulcanTask) -> Iterator[Note]:
    yield Note("root", "tests run as uid 10001")
    if spec.setup or spec.setup_commands:
        yield Note("setup", "setup commands are not run: what they install must be in the image")
    if not spec.tests.pass_to_pass:
        yield Note("regression", "pass_to_pass is empty, so nothing gates F")

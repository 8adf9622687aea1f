"""From another benchmark's files to a suite folder of ours: each task read, all written at once or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import assert_never

from pydantic import TypeAdapter, ValidationError

from harness.errors import UserError
from harness.suites.foreign.context import Context
from harness.suites.foreign.draft import TaskFolder, task_id
from harness.suites.foreign.folders import folders_of
from harness.suites.foreign.harbor import import_harbor
from harness.suites.foreign.rows import Row
from harness.suites.foreign.swebench import import_instance, read_instances
from harness.suites.foreign.task_repository import complete_row
from harness.suites.foreign.terminal_bench import import_terminal
from harness.suites.foreign.toml import dump_toml
from harness.suites.foreign.vulcan import import_vulcan
from harness.suites.foreign.write import new_folder, write_tree
from harness.suites.groups import Trust
from harness.suites.load import SUITE_FILE, load_task
from harness.suites.paths import Name
from harness.suites.task import Task

REPORT_FILE = "import.json"
_NAME: TypeAdapter[str] = TypeAdapter(Name)


class Kind(StrEnum):
    """What an import can read. A SWE-bench row's dialect is told by its columns."""

    SWE_BENCH = "swe-bench"
    HARBOR = "harbor"
    TERMINAL_BENCH = "terminal-bench"
    VULCAN_BENCH = "vulcan-bench"


@dataclass(frozen=True)
class Imported:
    """One task of the new suite, and what its verdicts are worth."""

    id: str
    origin: str
    dialect: str
    trust: Trust
    has_reference: bool
    not_carried: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What an import did. ``failed`` are the ones left out, each as one line's parts."""

    suite: str
    folder: Path
    tasks: tuple[Imported, ...]
    failed: tuple[UserError, ...]

    def to_value(self) -> dict[str, object]:
        """As plain JSON values."""
        return {
            "suite": self.suite,
            "tasks": [
                {
                    "id": one.id,
                    "origin": one.origin,
                    "dialect": one.dialect,
                    "trust": one.trust.value,
                    "has_reference": one.has_reference,
                    "not_carried": list(one.not_carried),
                }
                for one in self.tasks
            ],
            "failed": [{"where": one.where, "problem": one.problem, "remedy": one.remedy} for one in self.failed],
        }


def import_suite(
    kind: Kind, source: Path, output: Path, context: Context, *, keep_going: bool, report: Callable[[str], None]
) -> Report:
    """Import every task of *source* into the new suite folder *output*.

    Raises:
        UserError: something is malformed (without *keep_going*, the first such thing), or nothing can be imported;
            nothing has been written then.
        InfraError: the engine or the disk failed; nothing has been written then either.
    """
    name = _suite_name(output)
    if not source.exists():
        raise UserError(str(source), "is not there", "check the path")
    tasks: list[Imported] = []
    failed: list[UserError] = []
    with new_folder(output) as folder:
        for read in _guarded(_sources(kind, source, context), failed, keep_going=keep_going):
            try:
                made = read()
                if any(one.id == made.id for one in tasks):
                    raise UserError(
                        f"{source}: {made.origin}", f"comes twice: its id here is {made.id!r}", "leave one of them out"
                    )
                write_tree(made.files, folder / made.id)
                task = _loaded(folder / made.id)
            except UserError as error:
                if not keep_going:
                    raise
                failed.append(error)
                continue
            tasks.append(_imported(made, task))
            report(f"imported {made.id} (trust {task.trust.value})")
        if not tasks:
            raise failed[0] if failed else UserError(str(source), "holds no task", "check the path")
        done = Report(name, output, tuple(tasks), tuple(failed))
        spec = {
            "schema": 1,
            "name": name,
            "version": "1.0.0",
            "description": f"Imported from {kind.value} files.",
            "tasks": [one.id for one in tasks],
        }
        (folder / SUITE_FILE).write_text(dump_toml(spec), encoding="utf-8")
        text = json.dumps(done.to_value(), ensure_ascii=False, indent=2) + "\n"
        (folder / REPORT_FILE).write_text(text, encoding="utf-8")
    return done


def default_output(source: Path) -> Path:
    """A folder in the current one, named after what is imported."""
    return Path(task_id(source.stem or source.resolve().name))


def _suite_name(output: Path) -> str:
    name = output.resolve().name
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise UserError(
            f"--output {output}", f"{name!r} can't be a suite's name", "expected lowercase words and hyphens"
        ) from None


def _sources(kind: Kind, source: Path, context: Context) -> Iterator[Callable[[], TaskFolder]]:
    match kind:
        case Kind.SWE_BENCH:
            for row in read_instances(source):
                yield partial(_instance, row, source, context)
        case Kind.HARBOR:
            for folder in folders_of(source, "task.toml"):
                yield partial(import_harbor, folder, context)
        case Kind.TERMINAL_BENCH:
            for folder in folders_of(source, "task.yaml"):
                yield partial(import_terminal, folder, context)
        case Kind.VULCAN_BENCH:
            for folder in folders_of(source, "metadata.json"):
                yield partial(import_vulcan, folder, context)
        case _:
            assert_never(kind)


def _instance(row: Row | UserError, source: Path, context: Context) -> TaskFolder:
    if isinstance(row, UserError):
        raise row
    return import_instance(complete_row(row), source, context)


def _guarded(
    sources: Iterator[Callable[[], TaskFolder]], failed: list[UserError], *, keep_going: bool
) -> Iterator[Callable[[], TaskFolder]]:
    """The sources; what breaks the reading of them ends them, and is a failure among others if that is asked."""
    try:
        yield from sources
    except UserError as error:
        if not keep_going:
            raise
        failed.append(error)


def _loaded(folder: Path) -> Task:
    """The written task, loaded as any other; one that can't be is taken away again."""
    try:
        return load_task(folder)
    except UserError as error:
        import shutil

        shutil.rmtree(folder)
        where = error.where.replace(str(folder), folder.name)
        raise UserError(where, f"can't be a task of ours: {error.problem}", error.remedy) from error


def _imported(made: TaskFolder, task: Task) -> Imported:
    notes = tuple(str(note) for note in made.notes)
    reference = task.reference.tree != task.before
    return Imported(made.id, made.origin, made.dialect.value, task.trust, reference, notes)

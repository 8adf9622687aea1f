"""Terminal-Bench 1's task folders: ``task.yaml``, ``run-tests.sh``, ``tests/``, ``solution.sh``, a Dockerfile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from harness.errors import UserError
from harness.suites.foreign.context import Context
from harness.suites.foreign.draft import Note, TaskFolder
from harness.suites.foreign.folders import FolderTask, make_folder, surroundings
from harness.suites.foreign.harbor import Seconds
from harness.suites.foreign.task_repository import read_yaml
from harness.suites.formats.foreign import Dialect
from harness.suites.groups import RewardSource
from harness.suites.parse import parse, read_bytes
from harness.suites.tree import EXECUTABLE, Entry, Tree, read_tree


class TerminalTask(BaseModel):
    """``task.yaml``, as far as it moves a score."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instruction: Annotated[str, Field(min_length=1)]
    parser_name: str = "pytest"
    max_agent_timeout_sec: Seconds = 360
    max_test_timeout_sec: Seconds = 60
    run_tests_in_same_shell: bool = False
    env_name: Any = None


_TASK: TypeAdapter[TerminalTask] = TypeAdapter(TerminalTask)


def import_terminal(folder: Path, context: Context) -> TaskFolder:
    """One task folder as one of our tasks.

    Raises:
        UserError: a file is missing or malformed, or the task can't be carried at all.
    """
    where = folder / "task.yaml"
    spec = parse(_TASK, read_yaml(where), str(where))
    if spec.parser_name != "pytest":
        raise UserError(
            f"{where}: parser_name", f"the results of {spec.parser_name[:40]!r} can't be read", "expected 'pytest'"
        )
    solve = folder / "solution.sh"
    task = FolderTask(
        dialect=Dialect.TERMINAL_BENCH,
        id=folder.name,
        where=str(where),
        prompt=spec.instruction,
        tests=_tests(folder),
        script="run-tests.sh",
        solution=Tree([Entry("solution.sh", EXECUTABLE, read_bytes(solve))]) if solve.is_file() else Tree(),
        solve="solution.sh" if solve.is_file() else "",
        source=RewardSource.PYTEST,
        env={"TEST_DIR": "/tests", "T_BENCH_TEST_DIR": "/tests"},
        limits={
            "wall_s": max(1, min(int(spec.max_agent_timeout_sec), 864_000)),
            "grade_wall_s": max(1, min(int(spec.max_test_timeout_sec), 36_000)),
        },
        notes=tuple(_notes(spec, folder)),
    )
    around = surroundings(context, str(where), folder / "Dockerfile", [], None)
    return make_folder(task, around, context)


def _tests(folder: Path) -> Tree:
    script = folder / "run-tests.sh"
    if not script.is_file():
        raise UserError(str(script), "is missing", "expected the script that runs the tests")
    tests = read_tree(folder / "tests") if (folder / "tests").is_dir() else Tree()
    return tests.overlay(Tree([Entry("run-tests.sh", EXECUTABLE, read_bytes(script))]))


def _notes(spec: TerminalTask, folder: Path) -> Iterator[Note]:
    yield Note("shared_verifier", "Terminal-Bench tests in the solver's own container; here a fresh one does")
    yield Note("network", "the task's containers have a network there; there is none here")
    yield Note("root", "solver and tests run as uid 10001 here, not as the image says")
    yield Note("terminal", "there is no tmux session: the solver gets a workspace and the prompt")
    if spec.run_tests_in_same_shell:
        yield Note("same_shell", "the tests run in a shell of their own")
    if (folder / "docker-compose.yaml").is_file():
        yield Note("services", "docker-compose.yaml is not carried: there is one container")
    if (folder / "solution.yaml").is_file() and not (folder / "solution.sh").is_file():
        yield Note("solution", "solution.yaml types into a terminal and can't be run")

"""What Harbor's and Terminal-Bench's task folders share: an image, a script as the fix, a script as the verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.errors import UserError
from harness.oracles.conditions import ENVIRONMENT
from harness.suites.edits import difference
from harness.suites.foreign.context import Context, reference_notes
from harness.suites.foreign.dockerfile import read_dockerfile
from harness.suites.foreign.draft import Draft, Note, TaskFolder, limits_for, text_file, under
from harness.suites.foreign.environment import Environment
from harness.suites.foreign.swebench_commands import script_notes
from harness.suites.foreign.trees import read_image_folder
from harness.suites.formats.foreign import SCRIPT, Dialect, check_workspace
from harness.suites.groups import RewardSource
from harness.suites.tree import EXECUTABLE, Tree
from harness.untrusted import Refused
from harness.workspace import WORKSPACE, Workspace, pack

SOLUTION = "/solution"


@dataclass(frozen=True)
class Surroundings:
    """Where a task's tree lies and what is in it."""

    environment: Environment
    workspace: str
    before: Tree
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class FolderTask:
    """A task folder, read: the parts that both benchmarks have."""

    dialect: Dialect
    id: str
    where: str
    prompt: str
    tests: Tree
    script: str
    """The script among the tests."""
    solution: Tree
    solve: str
    """The script among the solution; empty if there is none."""
    source: RewardSource
    env: Mapping[str, str]
    limits: Mapping[str, int]
    notes: tuple[Note, ...]


def folders_of(path: Path, mark: str) -> list[Path]:
    """A task folder itself, or the task folders in a folder of them.

    Raises:
        UserError: there is none.
    """
    if (path / mark).is_file():
        return [path]
    found = sorted(one.parent for one in path.glob(f"*/{mark}")) or sorted(
        one.parent for one in path.glob(f"*/*/{mark}")
    )
    if not found:
        raise UserError(str(path), f"holds no task: no {mark} in it or in its folders", "name the folder of the tasks")
    return found


def surroundings(
    context: Context, where: str, dockerfile: Path, images: Iterable[str], workdir: str | None
) -> Surroundings:
    """The image and the starting tree: built, from the image's own folder, or from the Dockerfile's plain COPY lines.

    Raises:
        UserError: the image can't be had, or the tree can't be one of ours.
    """
    recipe = read_dockerfile(dockerfile, workdir) if dockerfile.is_file() else None
    notes: tuple[Note, ...] = ()
    if context.build:
        environment = context.images.build(dockerfile.parent, dockerfile)
        notes = (Note("image", "was built here without network and is pinned to the engine's id; no lock makes it"),)
    else:
        environment, notes = context.environment(images)
        if recipe is not None:
            steps = f", {len(recipe.other)} other steps such as {recipe.other[0]!r}" if recipe.other else ""
            lost = f"is not built without --build: FROM {recipe.base}{steps} is not carried"
            notes = (*notes, Note("dockerfile", lost))
    place = workdir or (recipe.workdir if recipe else None) or next(iter(environment.folders), "/app")
    place = "/app" if place == "/" else place.rstrip("/")
    try:
        check_workspace(place)
    except ValueError as error:
        raise UserError(where, str(error), "a task whose tree lies there can't be carried") from error
    if environment.pinned is not None:
        before, more = read_image_folder(context.images.engine, environment.handle, place, context.images.owner, where)
        notes = (*notes, *more)
    else:
        before = recipe.copied if recipe else Tree()
    return Surroundings(environment, place, before, notes)


def make_folder(task: FolderTask, around: Surroundings, context: Context) -> TaskFolder:
    """The task as one of ours; its solution is run once, sealed, to have the known-good tree."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in task.env.items()]
    verify = "\n".join([*exports, f"cd {shlex.quote(around.workspace)}", f"exec bash /tests/{task.script}", ""])
    created, day_notes = context.day()
    fixed, lost = _solved(task, around, context) if task.solve else (None, ())
    texts = [entry.data.decode("utf-8", "replace") for path, entry in task.tests.items() if path.endswith(".sh")]
    shared = Note(
        "container", "the verdict is reached in a fresh container that gets the workspace alone: what a solver changes "
        f"outside {around.workspace} is lost",
    )  # fmt: skip
    return Draft(
        dialect=task.dialect,
        origin=task.id,
        prompt=task.prompt,
        before=around.before,
        reference=fixed,
        hidden=Tree([*under("tests", task.tests), text_file("verify.sh", verify, EXECUTABLE)]),
        groups=({"name": "reward", "kind": "behaviour", "oracle": "reward", "script": "hidden/verify.sh",
                 "source": task.source.value},),
        image=around.environment.name,
        pinned=around.environment.pinned,
        workspace=around.workspace,
        created=created,
        limits=task.limits,
        notes=(*around.notes, *day_notes, *task.notes, shared, *lost, *script_notes("\n".join(texts)),
               *reference_notes(around.before, fixed)),
    ).folder()  # fmt: skip


def _solved(task: FolderTask, around: Surroundings, context: Context) -> tuple[Tree | None, tuple[Note, ...]]:
    """What the solution's script makes of the tree, run as a solver would: no network, not root."""
    limits = limits_for(around.before, task.limits)
    engine, owner = context.images.engine, context.images.owner
    with Workspace(engine, context.base, limits, owner) as workspace:
        workspace.seed(pack(around.before, prefix=WORKSPACE.lstrip("/") + "/"))
        mounts = workspace.mounts_at(around.workspace)
        size_mb = 4 + (task.solution.size >> 20) + task.solution.inodes // 256
        staged = VolumeMount(volume=opaque_name(), target=SOLUTION, size_mb=size_mb, inodes=4096, uid=0)
        volumes = Volumes(engine, owner, [staged])
        try:
            spec = SandboxSpec(
                role=Role.PREPARE,
                image=around.environment.handle,
                volumes=(*mounts, staged),
                tmp_mb=limits.tmp_mb,
                memory_mb=limits.memory_mb + size_mb,
                pids=limits.pids,
                workdir=around.workspace,
            )
            with Sandbox(engine, spec, owner) as sandbox:
                sandbox.put(SOLUTION, pack(task.solution, uid=0))
                ran = sandbox.run(
                    ("bash", "-c", SCRIPT, f"{SOLUTION}/{task.solve}"),
                    timeout_s=limits.grade_wall_s,
                    max_output=1 << 16,
                    env={**ENVIRONMENT, **task.env, "HOME": "/home/agent"},
                )
        finally:
            volumes.remove()
        try:
            tree = workspace.read().tree
        except Refused as refused:
            return None, (Note("solution", f"what {task.solve} leaves is no acceptable tree: {refused.reason.value}"),)
    overlay, gone = difference(around.before, tree)
    if not overlay and not gone:
        return None, (Note("solution", f"{task.solve}, run sealed (status {ran.exit_status}), changes no file there"),)
    if ran.exit_status != 0:
        return tree, (Note("solution", f"{task.solve}, run sealed, ended with status {ran.exit_status}"),)
    return tree, ()

"""SWE-bench's instances in all their dialects: classic and Verified, v5 (rows, task repositories), Pro, Live, rebench.

The test patch becomes hidden files laid over the tree at grading, FAIL_TO_PASS the behaviour group and PASS_TO_PASS the
regression group. Where the instance brings no command (classic), pytest's own hooks tell the results if the ids are
pytest's; otherwise the benchmark's command prints a report that the host reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import UserError
from harness.suites.edits import difference
from harness.suites.foreign.context import Context, reference_notes
from harness.suites.foreign.draft import Draft, Note, TaskFolder, test_groups, test_lists
from harness.suites.foreign.rows import Row, read_each
from harness.suites.foreign.swebench_commands import commands
from harness.suites.foreign.swebench_rows import V5, Instance, Live, Pro, Rebench, dialect_of, parse_instance
from harness.suites.foreign.task_repository import assets_of, task_repository
from harness.suites.tree import Entry, Tree


def read_instances(path: Path) -> Iterator[Row | UserError]:
    """The rows of a data set's files, or of a version 5 task repository, malformed ones as errors in their places.

    Raises:
        UserError: there is no such file.
    """
    if path.is_dir() and (path / "tasks").is_dir() and (path / "sweb.yaml").is_file():
        yield from task_repository(path / "tasks")
    else:
        yield from read_each(path)


def import_instance(row: Row, source: Path, context: Context) -> TaskFolder:
    """One instance as one of our tasks.

    Raises:
        UserError: the row is malformed, or its tree, image or patches can't be had.
    """
    instance = parse_instance(row)
    where = f"{row.where}: {instance.instance_id}"
    if not instance.fail:
        raise UserError(f"{where}: FAIL_TO_PASS", "names no test", "expected one or more")
    if both := sorted(set(instance.fail) & set(instance.passing)):
        problem = f"{both[0][:100]!r} is in PASS_TO_PASS as well"
        raise UserError(
            f"{where}: FAIL_TO_PASS", problem, "a test can't both fail and pass on the base: drop one of them"
        )
    environment, image_notes = context.environment(_images(instance))
    before, workspace, tree_notes = context.tree(instance.repo, instance.base_commit, environment, where)
    tested = context.patched(before, instance.test_patch, f"{where}: test_patch")
    laid, gone = difference(before, tested)
    laid = laid.overlay(assets_of(row))
    fixed = context.patched(before, instance.patch, f"{where}: patch") if instance.patch.strip() else None
    created, day_notes = context.day(instance.created_at)
    plan = commands(instance, source, where, tested, environment.python)
    return Draft(
        dialect=dialect_of(instance),
        origin=instance.instance_id,
        prompt=instance.prompt,
        before=before,
        reference=fixed,
        hidden=Tree(
            [
                *(Entry(f"tree/{path}", one.mode, one.data) for path, one in laid.items()),
                *plan.files,
                *test_lists(instance.fail, instance.passing),
            ]
        ),
        delete_at_grading=gone,
        groups=tuple(test_groups(instance.passing, plan.how)),
        image=environment.name,
        pinned=environment.pinned,
        workspace=workspace,
        created=created,
        project=instance.repo,
        fix=None,
        notes=(*image_notes, *tree_notes, *day_notes, *_notes(instance), *plan.notes, *reference_notes(before, fixed)),
    ).folder()


def _images(instance: Instance) -> list[str]:
    """The names that the benchmark gives the instance's image, first choice first."""
    match instance:
        case V5():
            return [instance.image]
        case Pro():
            return [f"jefzda/sweap-images:{instance.dockerhub_tag}"] if instance.dockerhub_tag else []
        case Live() if instance.docker_image:
            return [instance.docker_image]
        case Rebench() if instance.docker_image or instance.image_name:
            return [name for name in (instance.docker_image, instance.image_name) if name]
        case _:
            escaped = instance.instance_id.replace("__", "_1776_").lower()
            return [f"swebench/sweb.eval.x86_64.{escaped}:latest"]


def _notes(instance: Instance) -> Iterator[Note]:
    if instance.hints_text:
        yield Note("hints", "hints_text is not shown to solvers")
    if isinstance(instance, V5) and instance.eval_type != "pass_and_fail":
        yield Note("eval_type", f"{instance.eval_type[:40]!r} is graded as pass_and_fail: a missing test has failed")
    if isinstance(instance, V5) and instance.image_assets:
        yield Note("image_assets", "files that a patch can't hold are fetched by the benchmark; here nothing is")
    if not instance.passing:
        yield Note("regression", "PASS_TO_PASS is empty, so nothing gates F")

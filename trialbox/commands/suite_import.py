"""``trialbox suite import``: another benchmark's tasks as a suite of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser, did_you_mean
from trialbox.guard import line, say

if TYPE_CHECKING:
    from harness.suites.foreign.importing import Kind, Report

KINDS = ("swe-bench", "harbor", "terminal-bench", "vulcan-bench")


class ImportOptions(Options):
    """What ``import`` takes."""

    kind: str
    source: str
    output: str | None
    image: str | None
    repos: str | None
    build: bool
    keep_going: bool


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("kind", metavar="KIND", help=", ".join(KINDS))
    add("source", metavar="FILE|DIR", help="a data set's file or folder, or a folder of tasks")
    add("--output", metavar="DIR", help="the new suite folder (default: named after the source, here)")
    add("--image", metavar="NAME", help="what the tasks run in: a recipe of ours, or an image of this engine")
    add("--repos", metavar="DIR", help="local clones, as owner__name or owner/name")
    add("--build", action="store_true", help="build the tasks' Dockerfiles, with the engine's builder and no network")
    add("--keep-going", action="store_true", help="leave malformed tasks out, and list them, instead of stopping")


def import_tasks(options: ImportOptions) -> ExitCode:
    """Import another benchmark's tasks as a suite; 1 if some had to be left out.

    All of it is written, or nothing. What a task loses by it is named in the suite's import.json and here.
    """
    from datetime import UTC, datetime
    from pathlib import Path

    from harness.suites.foreign.context import Context
    from harness.suites.foreign.environment import Images
    from harness.suites.foreign.importing import default_output, import_suite
    from trialbox import display, places
    from trialbox.opening import opened, prepared

    kind, source, state = _kind(options.kind), Path(options.source), places.state()
    output = Path(options.output) if options.output is not None else default_output(source)
    repos = Path(options.repos) if options.repos is not None else None
    if repos is not None and not repos.is_dir():
        raise UserError("--repos", f"{repos} is no folder", "name the folder that holds the clones")
    with display.shown() as progress, prepared(state), opened(state, progress) as engine:
        where = places.data_folder("images")
        images = Images(engine, places.image_cache(), where, state.owner, progress.note)
        today = datetime.now(UTC).date()
        context = Context(images, today, image=options.image, repos=repos, build=options.build)
        done = import_suite(kind, source, output, context, keep_going=options.keep_going, report=progress.note)
    if options.as_json:
        say({"folder": str(done.folder), **done.to_value()})
    else:
        _show(done)
    return ExitCode.NO if done.failed else ExitCode.DONE


def _kind(name: str) -> Kind:
    from harness.suites.foreign.importing import Kind

    try:
        return Kind(name)
    except ValueError as error:
        near = did_you_mean(name, KINDS)
        raise UserError("KIND", f"{name!r} can't be imported", near or f"known: {', '.join(KINDS)}") from error


def _show(done: Report) -> None:
    from harness.counted import counted
    from scoring.wording import TRUST

    line(f"{done.suite}: {counted(len(done.tasks), 'task')} in {done.folder}")
    for task in done.tasks:
        line(f"  {task.id} ({task.dialect}), trust {task.trust.value}: {TRUST[task.trust]}")
        for lost in task.not_carried:
            line(f"    not carried: {lost}")
    for error in done.failed:
        line(f"  left out: {error}")


COMMAND = Command("import", import_tasks, ImportOptions, declare)

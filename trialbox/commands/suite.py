"""``trialbox suite``: the suites there are, and what is in one."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.commands import suite_check, suite_export, suite_import, suite_lock
from trialbox.guard import line, say


class SuiteOptions(Options):
    """What a command about one suite takes."""

    suite: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a suite's name, or the path of its folder")


def list_suites(options: Options) -> ExitCode:
    """List the suites."""
    from harness.counted import counted
    from harness.suites.load import find_suites, read_suite_file
    from trialbox import places

    suites = [read_suite_file(folder) for folder in find_suites(places.data_folder("tasks")).values()]
    rows = [
        {"name": one.name, "version": one.version, "tasks": len(one.tasks), "description": one.description}
        for one in suites
    ]
    if options.as_json:
        say({"suites": rows})
    for one in [] if options.as_json else suites:
        line(f"{one.name} {one.version}  {counted(len(one.tasks), 'task')}  {one.description}")
    return ExitCode.DONE


def show_suite(options: SuiteOptions) -> ExitCode:
    """Show a suite: its identity and its tasks."""
    from harness.engine.images import list_images
    from harness.records import to_value
    from harness.suites.hashing import ScoreBasis, suite_ref, task_ref
    from harness.suites.load import load_suite
    from trialbox import places
    from trialbox.request import suite_folder

    loaded = load_suite(suite_folder(options.suite, places.data_folder("tasks")))
    images = list_images(None, images_dir=places.data_folder("images"), programs=loaded.programs)
    basis = ScoreBasis(image_locks={image.name: image.lock for image in images})
    identity = suite_ref(loaded, basis)
    tasks = [
        {
            "id": task.id,
            "format": task.spec.format,
            "title": task.spec.title,
            "oracle_visibility": task.oracle_visibility.value,
            "trust": task.trust.value,
            "groups": [{"name": g.name, "kind": g.kind.value, "oracle": g.oracle} for g in task.groups],
            "limits": to_value(task.limits),
            "score_hash": task_ref(loaded, task, basis).score_hash,
        }
        for task in loaded.tasks
    ]
    if options.as_json:
        say({"name": loaded.name, "version": loaded.version, "hash": identity.hash, "tasks": tasks})
        return ExitCode.DONE
    line(f"{loaded.name} {loaded.version} {identity.hash}")
    for task, facts in zip(loaded.tasks, tasks, strict=True):
        groups = ", ".join(f"{group.name} ({group.kind.value}, {group.oracle})" for group in task.groups)
        line(f"  {task.id}: {task.spec.title}")
        line(f"    {facts['format']}, oracle {facts['oracle_visibility']}, trust {facts['trust']}; groups: {groups}")
    return ExitCode.DONE


GROUP = Group(
    "suite",
    "Suites and their tasks.",
    (
        Command("list", list_suites, Options),
        Command("show", show_suite, SuiteOptions, declare),
        suite_check.COMMAND,
        suite_lock.COMMAND,
        suite_import.COMMAND,
        suite_export.COMMAND,
    ),
)

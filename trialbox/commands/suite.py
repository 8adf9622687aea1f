"""``trialbox suite``: the suites there are, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.commands import suite_check, suite_export, suite_import, suite_lock
from trialbox.guard import line, say


class ListOptions(Options):
    """What ``list`` takes."""

    keep_going: bool


class SuiteOptions(ListOptions):
    """What a command about one suite takes."""

    suite: str


def declare_list(parser: Parser) -> None:
    """The arguments of ``list``."""
    parser.add_argument("--keep-going", action="store_true", help="leave what is malformed out, and name it")


def declare(parser: Parser) -> None:
    """The arguments of ``show``."""
    parser.add_argument("suite", metavar="SUITE", help="a suite's name, or the path of its folder")
    declare_list(parser)


def list_suites(options: ListOptions) -> ExitCode:
    """List the suites.

    With --keep-going also where some are malformed: they are named, and the code is 1.
    """
    from harness.counted import counted
    from harness.suites.load import find_suites, read_suite_file
    from trialbox import places

    suites, errors = [], []
    for folder in find_suites(places.data_folder("tasks")).values():
        try:
            suites.append(read_suite_file(folder))
        except UserError as error:
            if not options.keep_going:
                raise
            errors.append(error)
    rows = [
        {"name": one.name, "version": one.version, "tasks": len(one.tasks), "description": one.description}
        for one in suites
    ]
    if options.as_json:
        say({"suites": rows, "errors": [_told(one) for one in errors]})
    for one in [] if options.as_json else suites:
        line(f"{one.name} {one.version}  {counted(len(one.tasks), 'task')}  {one.description}")
    return _left_out(errors, options.as_json)


def show_suite(options: SuiteOptions) -> ExitCode:
    """Show a suite: its identity and its tasks.

    With --keep-going also one with malformed tasks: they are named, the suite then has no identity, and the code is 1.
    """
    from audits.decontamination import claim_faults
    from harness.counted import counted
    from harness.engine.images import list_images
    from harness.records import to_value
    from harness.suites.hashing import ScoreBasis, suite_ref, task_ref
    from harness.suites.kept import kept_versions
    from harness.suites.load import load_suite
    from trialbox import places
    from trialbox.request import suite_folder

    folder = suite_folder(options.suite, places.data_folder("tasks"))
    loaded = load_suite(folder, keep_going=options.keep_going)
    images = list_images(None, images_dir=places.data_folder("images"), programs=loaded.programs)
    basis = ScoreBasis(image_locks={image.name: image.lock for image in images})
    identity = None if loaded.errors else suite_ref(loaded, basis).hash
    kept = list(kept_versions(folder))
    tasks = [
        {
            "id": task.id,
            "format": task.spec.format,
            "title": task.spec.title,
            "oracle_visibility": task.oracle_visibility.value,
            "trust": task.trust.value,
            "groups": [{"name": g.name, "kind": g.kind.value, "oracle": g.oracle} for g in task.groups],
            "limits": to_value(task.limits),
            "decontaminated": (told := task.spec.provenance) and told.decontaminated and not claim_faults(told),
            "score_hash": task_ref(loaded, task, basis).score_hash,
        }
        for task in loaded.tasks
    ]
    if options.as_json:
        errors = [_told(one) for one in loaded.errors]
        known = {"name": loaded.name, "version": loaded.version, "hash": identity, "kept": kept}
        say({**known, "tasks": tasks, "errors": errors})
        return ExitCode.NO if errors else ExitCode.DONE
    part = f"partial: {len(tasks)} of {counted(len(loaded.spec.tasks), 'task')}; the suite has no identity"
    line(f"{loaded.name} {loaded.version} {identity or part}")
    line(f"  kept versions: {', '.join(kept) or 'none'}")
    for task, facts in zip(loaded.tasks, tasks, strict=True):
        groups = ", ".join(f"{group.name} ({group.kind.value}, {group.oracle})" for group in task.groups)
        line(f"  {task.id}: {task.spec.title}")
        line(f"    {facts['format']}, oracle {facts['oracle_visibility']}, trust {facts['trust']}; groups: {groups}")
        line(f"    decontaminated: {_CLAIMS[facts['decontaminated']]}")
    return _left_out(loaded.errors, options.as_json)


_CLAIMS = {True: "yes", False: "no", None: "not known"}


def _told(error: UserError) -> dict[str, str]:
    return {"where": error.where, "problem": error.problem, "remedy": error.remedy}


def _left_out(errors: Sequence[UserError], as_json: bool) -> ExitCode:
    """Name what was left out; the code says whether anything was."""
    for error in [] if as_json else errors:
        line(f"left out: {error}")
    return ExitCode.NO if errors else ExitCode.DONE


GROUP = Group(
    "suite",
    "Suites and their tasks.",
    (
        Command("list", list_suites, ListOptions, declare_list),
        Command("show", show_suite, SuiteOptions, declare),
        suite_check.COMMAND,
        suite_lock.COMMAND,
        suite_import.COMMAND,
        suite_export.COMMAND,
    ),
)

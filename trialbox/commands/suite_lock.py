"""``trialbox suite lock``: write down what a suite's version stands for."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import line, say


class LockOptions(Options):
    """What ``lock`` takes."""

    suite: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    parser.add_argument("suite", metavar="SUITE", help="a suite's name, or the path of its folder")


def lock(options: LockOptions) -> ExitCode:
    """Lock a suite: record its tasks' hashes under its version, and keep that version runnable.

    Refused if a hash changed and the version did not, if a retired id came back, or if a task was added without raising
    the minor version.
    """
    from harness.counted import counted
    from harness.suites.kept import keep
    from harness.suites.load import load_suite
    from harness.suites.lock import LOCK_FILE, lock_suite
    from trialbox import places
    from trialbox.opening import locked_basis
    from trialbox.request import suite_folder

    loaded = load_suite(suite_folder(options.suite, places.data_folder("tasks")), releases=places.releases())
    made = lock_suite(loaded, locked_basis(loaded))
    kept = keep(loaded)
    if options.as_json:
        say({"name": made.suite, "version": made.version, "hash": made.hash, "tasks": len(made.tasks)})
    else:
        line(f"{made.suite} {made.version} {made.hash}")
        line(f"{counted(len(made.tasks), 'task')} in {loaded.folder / LOCK_FILE}")
        line(f"{made.suite}@{made.version} is kept in {kept}")
    return ExitCode.DONE


COMMAND = Command("lock", lock, LockOptions, declare)

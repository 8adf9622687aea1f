"""``trialbox run``: a suite through sealed containers to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ExitCode, GateError, UserError
from trialbox.arguments import Command, Options, Parser, whole
from trialbox.guard import line, say

if TYPE_CHECKING:
    from trialbox.request import Request
    from trialbox.running import Done

DEFAULT_SOLVERS = "reference,noop,wrong"


class RunOptions(Options):
    """What ``run`` takes."""

    suite: str
    solver: list[str] | None
    task: list[str] | None
    limit: int | None
    attempts: int
    concurrency: int | None
    energy: str
    out: str | None
    keep_workspaces: bool
    resume: str | None
    real: bool
    list_only: bool


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("suite", metavar="SUITE", nargs="?", default="", help="a suite's name, or the path of its folder")
    solvers = f"solvers by name or manifest, with commas or repeated (default: {DEFAULT_SOLVERS})"
    add("--solver", metavar="A,B", action="append", help=solvers)
    add("--task", metavar="ID", action="append", help="only this task; repeatable")
    add("--limit", metavar="N", type=whole, help="only the first N tasks")
    add("--attempts", metavar="N", type=whole, default=1, help="attempts of each solver at each task (default: 1)")
    at_once = "attempts at once (default: 1); with more, measured energy belongs to no one attempt: `shared`"
    add("--concurrency", metavar="N", type=whole, help=at_once)
    meters = "auto (default), measured, rapl, nvml, estimator or off"
    add("--energy", metavar="METER", default="auto", help=meters)
    add("--out", metavar="FILE", help="also write the card to this file")
    kept = "also keep each attempt's whole tree, as a tar among the blobs; `trialbox report --json` names it"
    add("--keep-workspaces", action="store_true", help=kept)
    add("--resume", metavar="RUN", help="go on with a run: its id, or latest")
    add("--real", action="store_true", help="let solvers reach a model provider")
    add("--list", dest="list_only", action="store_true", help="show what would run, and run nothing")


def run(options: RunOptions) -> ExitCode:
    """Run a suite in sealed containers, grade it, and stamp a card.

    Nothing is spent: without --real no provider is ever called.
    """
    if options.real:
        raise GateError("--real", "no provider can be reached yet, and nothing was spent", "run without --real")
    _check(options)
    from trialbox.request import Request

    request = Request(
        suite=options.suite,
        solvers=tuple(options.solver or [DEFAULT_SOLVERS]),
        tasks=tuple(options.task or ()),
        limit=options.limit,
        attempts=options.attempts,
        concurrency=1 if options.concurrency is None else options.concurrency,
        energy=options.energy,
        keep_workspaces=options.keep_workspaces,
    )
    if options.list_only:
        return _list(request, options.as_json)
    return _finish(_go(request, options), options)


def _check(options: RunOptions) -> None:
    if options.out is not None:
        _check_out(options.out)
    if options.resume is None:
        if not options.suite:
            raise UserError("SUITE", "is missing", "name one; `trialbox suite list` shows them")
        return
    planned = (options.suite, options.solver, options.task, options.limit, options.attempts, options.energy)
    if planned != ("", None, None, None, 1, "auto") or options.keep_workspaces:
        raise UserError("--resume", "a resumed run keeps what it was planned with", "give only --concurrency beside it")


def _check_out(out: str) -> None:
    """Before anything runs: a card that can't be written where it was asked for is no reason to lose an hour."""
    import os
    from pathlib import Path

    path = Path(out)
    if path.is_dir():
        raise UserError("--out", f"{out} is a folder", "name a file in it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError("--out", f"{path.parent} is no folder that can be written", "create it, or name another")


def _go(request: Request, options: RunOptions) -> Done:
    from trialbox import display, places, running

    with display.shown() as progress:
        if options.resume is not None:
            return running.resume(options.resume, options.concurrency, places.state(), progress)
        return running.start(request, places.state(), progress)


def _finish(done: Done, options: RunOptions) -> ExitCode:
    from pathlib import Path

    from harness.files import atomic_write
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console

    card = done.card
    if options.out is not None:
        atomic_write(Path(options.out), card.to_bytes())
    if options.as_json:
        say(
            {
                "run": done.run_id,
                "card": card.id,
                "core_digest": card.core_digest,
                "mode": card.core.plan.mode.value,
                "provider": card.core.plan.provider,
                "solvers": {name: to_value(row) for name, row in card.core.aggregates.items()},
                "measured": {name: to_value(row) for name, row in card.measured.solvers.items()},
            }
        )
    else:
        console.show(make_report(card))
    return ExitCode.DONE


def _list(request: Request, as_json: bool) -> ExitCode:
    from trialbox import places
    from trialbox.request import select

    selection = select(request, places.data_folder("tasks"))
    solvers = [solver.name for solver in selection.solvers]
    tasks = [{"id": task.id, "title": task.spec.title} for task in selection.tasks]
    cells = len(tasks) * len(solvers) * request.attempts
    if as_json:
        say({"suite": selection.suite.name, "tasks": tasks, "solvers": solvers, "attempts": cells})
        return ExitCode.DONE
    line(f"{selection.suite.name} {selection.suite.version}: {cells} attempts by {', '.join(solvers)}")
    for one in tasks:
        line(f"  {one['id']}: {one['title']}")
    return ExitCode.DONE


COMMAND = Command("run", run, RunOptions, declare)

"""``trialbox run``: a suite through sealed containers to a card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import ExitCode, GateError, UserError
from trialbox.guard import Json, line, say

if TYPE_CHECKING:
    from trialbox.request import Request
    from trialbox.running import Done

DEFAULT_SOLVERS = "reference,noop,wrong"


def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name, or the path of its folder.")] = "",
    solver: Annotated[
        list[str] | None,
        typer.Option(help=f"Solvers, by name or manifest, repeatable or with commas. [default: {DEFAULT_SOLVERS}]"),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N tasks.")] = None,
    attempts: Annotated[int, typer.Option(help="Attempts of each solver at each task.")] = 1,
    concurrency: Annotated[int | None, typer.Option(help="Attempts at once. [default: 1]")] = None,
    energy: Annotated[str, typer.Option(help="Meter: auto, measured, rapl, nvml, estimator or off.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Also write the card to this file.")] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with a run: its id, or latest.")] = None,
    real: Annotated[bool, typer.Option("--real", help="Let solvers reach a model provider.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Show what would run, and run nothing.")] = False,
    as_json: Json = False,
) -> ExitCode:
    """Run a suite in sealed containers, grade it, and stamp a card.

    Nothing is spent: without --real no provider is ever called.
    """
    if real:
        raise GateError("--real", "no provider can be reached yet, and nothing was spent", "run without --real")
    from trialbox.request import Request

    if resume is not None and (suite or solver or task or limit is not None or attempts != 1 or energy != "auto"):
        raise UserError("--resume", "a resumed run keeps what it was planned with", "give only --concurrency beside it")
    if resume is None and not suite:
        raise UserError("SUITE", "is missing", "name one; `trialbox suite list` shows them")
    request = Request(
        suite=suite,
        solvers=tuple(solver or [DEFAULT_SOLVERS]),
        tasks=tuple(task or ()),
        limit=limit,
        attempts=attempts,
        concurrency=1 if concurrency is None else concurrency,
        energy=energy,
    )
    if list_only:
        return _list(request, as_json)
    return _finish(_go(request, resume, concurrency), out, as_json)


def _go(request: Request, resume: str | None, concurrency: int | None) -> Done:
    from trialbox import display, places, running

    with display.shown() as progress:
        if resume is not None:
            return running.resume(resume, concurrency, places.state(), progress)
        return running.start(request, places.state(), progress)


def _finish(done: Done, out: Path | None, as_json: bool) -> ExitCode:
    from harness.files import atomic_write
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console

    card = done.card
    if out is not None:
        atomic_write(out, card.to_bytes())
    if as_json:
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

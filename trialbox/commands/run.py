"""``trialbox run``: a suite through sealed containers to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.counted import counted
from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser, whole
from trialbox.guard import line, say

if TYPE_CHECKING:
    from trialbox.quoting import Quote
    from trialbox.request import Request
    from trialbox.running import Done

DEFAULT_SOLVERS = "reference,noop,wrong"
REAL_SOLVERS = "fleet"


class RunOptions(Options):
    """What ``run`` takes."""

    suite: str
    solver: list[str] | None
    task: list[str] | None
    limit: int | None
    attempts: int
    rollouts: int
    selector: str | None
    concurrency: int | None
    energy: str
    certified: bool
    active_watts: str | None
    out: str | None
    keep_workspaces: bool
    resume: str | None
    real: bool
    confirm_spend: bool
    provider: str | None
    script: str | None
    budget_usd: str | None
    budget_tokens: int | None
    budget_requests: int | None
    list_only: bool


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("suite", metavar="SUITE", nargs="?", default="", help="a suite's name, or the path of its folder")
    solvers = (
        "solvers by name, NAME:model=M,effort=E, or manifest, with commas or repeated; fleet is every agent"
        f" (default: {DEFAULT_SOLVERS}; with --real: {REAL_SOLVERS})"
    )
    add("--solver", metavar="A,B", action="append", help=solvers)
    add("--task", metavar="ID", action="append", help="only this task; repeatable")
    add("--limit", metavar="N", type=whole, help="only the first N tasks")
    add("--attempts", metavar="N", type=whole, default=1, help="attempts of each solver at each task (default: 1)")
    best = (
        "best of N: so many attempts in place of each one, of which --selector picks one; all are paid for (default: 1)"
    )
    add("--rollouts", metavar="N", type=whole, default=1, help=best)
    who = "who picks: visible-tests (default; the tests that solvers see), or oracle, which is told as pass@N"
    add("--selector", metavar="NAME", help=who)
    at_once = "attempts at once (default: 1; scripted solvers alone: up to 4); over 1, measured energy is `shared`"
    add("--concurrency", metavar="N", type=whole, help=at_once)
    meters = "auto (default), measured, rapl, nvml, estimator or off"
    add("--energy", metavar="METER", default="auto", help=meters)
    certain = (
        "energy that may be published: counters, a full idle calibration, one attempt at a time, alone on the host"
    )
    add("--certified", action="store_true", help=certain)
    assumed = "what the estimator assumes (default: JOULE_BENCH_ACTIVE_WATTS, config.toml of the state folder, 15)"
    add("--active-watts", metavar="W", help=assumed)
    add("--out", metavar="FILE", help="also write the card to this file")
    kept = "also keep each attempt's whole tree, as a tar among the blobs; `trialbox report --json` names it"
    add("--keep-workspaces", action="store_true", help=kept)
    add("--resume", metavar="RUN", help="go on with a run: its id, or latest")
    add("--real", action="store_true", help="show what asking real models would cost, and stop: nothing is spent")
    add("--confirm-spend", action="store_true", help="with --real: spend it (a local model needs no confirmation)")
    asked = "who is asked: scripted (dry runs), anthropic, openai, google, openrouter, or one of config.toml"
    add("--provider", metavar="NAME", help=asked)
    add("--script", metavar="FILE", help="in a dry run, what models answer (default: each task's reference)")
    add("--budget-usd", metavar="D", help="dollars that each attempt may cost; the request after them is refused")
    add("--budget-tokens", metavar="N", type=whole, help="the same in tokens")
    add("--budget-requests", metavar="N", type=whole, help="the same in requests to a model")
    add("--list", dest="list_only", action="store_true", help="show what would run, and run nothing")


def run(options: RunOptions) -> ExitCode:
    """Run a suite in sealed containers, grade it, and stamp a card.

    Without --real no provider is ever called: models are played by a script, and nothing is spent. With it, the
    estimate is shown and nothing happens (exit code 4) until --confirm-spend is added. The daily cap of config.toml
    stops a run between attempts; it is resumed by --resume RUN --confirm-spend.
    """
    _check(options)
    from trialbox.request import Request

    request = Request(
        suite=options.suite,
        solvers=tuple(options.solver or [REAL_SOLVERS if options.real else DEFAULT_SOLVERS]),
        tasks=tuple(options.task or ()),
        limit=options.limit,
        attempts=options.attempts,
        rollouts=options.rollouts,
        selector=options.selector,
        concurrency=options.concurrency,
        energy=options.energy,
        certified=options.certified,
        active_watts=options.active_watts,
        keep_workspaces=options.keep_workspaces,
        real=options.real,
        provider=options.provider,
        script=options.script,
        budget_usd=options.budget_usd,
        budget_tokens=options.budget_tokens,
        budget_requests=options.budget_requests,
    )
    if options.list_only:
        return _list(request, options.as_json)
    quoted = _quote(request, options)
    if quoted is not None and quoted.decision == "stop":
        return _stop(quoted, options.as_json)
    return _finish(_go(request, options), options)


def _check(options: RunOptions) -> None:
    if options.out is not None:
        from trialbox import places
        from trialbox.outfile import check_out

        check_out(options.out, places.state())
    if options.script is not None and options.real:
        raise UserError("--script", "real models answer by themselves", "leave it out, or --real")
    if options.resume is None:
        if not options.suite:
            raise UserError("SUITE", "is missing", "name one; `trialbox suite list` shows them")
        if options.confirm_spend and not options.real:
            raise UserError("--confirm-spend", "a dry run spends nothing", "leave it out, or add --real")
        return
    if options.list_only:
        raise UserError("--list", "shows what a new run would do", "leave it or --resume out")
    planned = (
        *(options.suite, options.solver, options.task, options.limit, options.attempts, options.energy),
        *(options.active_watts, options.provider, options.script, options.selector),
        *(options.budget_usd, options.budget_tokens, options.budget_requests),
    )
    usual = ("", None, None, None, 1, "auto", *(None,) * 7)
    switched = options.keep_workspaces or options.real or options.certified
    if planned != usual or options.rollouts != 1 or switched:
        remedy = "give only --concurrency and --confirm-spend beside it"
        raise UserError("--resume", "a resumed run keeps what it was planned with", remedy)


def _quote(request: Request, options: RunOptions) -> Quote | None:
    """What a real run would cost; None for a dry one."""
    if options.resume is None and not request.real:
        return None
    from trialbox import places, quoting

    state = places.state()
    if options.resume is not None:
        return quoting.quote_resumed(options.resume, state, confirmed=options.confirm_spend)
    return quoting.quote(request, state, confirmed=options.confirm_spend)


def _stop(quoted: Quote, as_json: bool) -> ExitCode:
    if as_json:
        say(quoted.to_value())
    else:
        for text in quoted.lines():
            line(text)
    return ExitCode.GATE


def _go(request: Request, options: RunOptions) -> Done:
    from trialbox import display, places, running

    with display.shown() as progress:
        if options.resume is not None:
            confirmed = options.confirm_spend
            return running.resume(options.resume, options.concurrency, places.state(), progress, confirmed=confirmed)
        return running.start(request, places.state(), progress, confirmed=options.confirm_spend)


def _finish(done: Done, options: RunOptions) -> ExitCode:
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console, places
    from trialbox.outfile import write_out

    card = done.card
    if options.out is not None:
        write_out(options.out, card.to_bytes(), places.state())
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
                "selection": None if card.core.selection is None else to_value(card.core.selection),
            }
        )
    else:
        console.show(make_report(card))
    return ExitCode.DONE


def _list(request: Request, as_json: bool) -> ExitCode:
    from harness.engine.images import list_images
    from harness.suites.hashing import ScoreBasis, suite_ref
    from trialbox import places
    from trialbox.request import select

    selection = select(request, places.data_folder("tasks"))
    images = list_images(None, images_dir=places.data_folder("images"), programs=selection.suite.programs)
    suite_ref(selection.suite, ScoreBasis({image.name: image.lock for image in images}))  # refuses an unknown image
    solvers = [solver.name for solver in selection.solvers]
    tasks = [
        {"id": task.id, "title": task.spec.title, "groups": [group.name for group in task.groups]}
        for task in selection.tasks
    ]
    cells = len(tasks) * len(solvers) * request.each
    if as_json:
        say({"suite": selection.suite.name, "tasks": tasks, "solvers": solvers, "attempts": cells})
        return ExitCode.DONE
    line(f"{selection.suite.name} {selection.suite.version}: {counted(cells, 'attempt')} by {', '.join(solvers)}")
    for one in tasks:
        line(f"  {one['id']}: {one['title']} ({', '.join(one['groups'])})")
    return ExitCode.DONE


COMMAND = Command("run", run, RunOptions, declare)

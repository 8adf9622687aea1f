"""``trialbox suite check``: may these tasks stand in their suites?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import ExitCode, TrialboxError, UserError
from trialbox.arguments import Command, Options, Parser, whole
from trialbox.guard import line, say

if TYPE_CHECKING:
    from harness.suites.admission.records import Admission
    from scoring.report.text import Table
    from trialbox.checking import Checked, CheckRequest, SuiteResult


class CheckOptions(Options):
    """What ``check`` takes."""

    suite: str
    every: bool
    task: list[str] | None
    keep_going: bool
    fresh: bool
    concurrency: int | None
    mutants: bool
    reference_a: str | None
    reference_b: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("suite", metavar="SUITE", nargs="?", default="", help="a suite's name, or the path of its folder")
    add("--all", dest="every", action="store_true", help="every suite, in its current version")
    add("--task", metavar="ID", action="append", help="only this task; repeatable")
    add("--keep-going", action="store_true", help="leave tasks out that are malformed, or at which the engine fails")
    add("--fresh", action="store_true", help="check again what was admitted before under the same hashes and images")
    add("--concurrency", metavar="N", type=whole, help="gradings at once (default: one for each core, at most 8)")
    for role, usual in (("a", "codex:model=gpt-5.6-sol"), ("b", "claude-code:model=claude-opus-5")):
        whose = f"reference solver {role}, whose recorded attempts say whether a task is hard (default: {usual})"
        add(f"--reference-{role}", metavar="HARNESS:model=ID", help=whose)
    add("--mutants", action="store_true", help="show the mutants that would be graded, and grade nothing")


def check(options: CheckOptions) -> ExitCode:
    """Check that tasks are fit to stand in their suites, clause by clause in real containers.

    Exits with 0 if all are admitted, with 1 if one is not or a suite's lock doesn't hold, with 3 if the engine failed
    at one. docs/admission.md says what is asked of a task.
    """
    from trialbox import checking, display, places

    request = _request(options)
    if options.mutants:
        return _list_mutants(request, options.as_json)
    with display.shown() as progress:
        checked = checking.check(request, places.state(), progress)
    if options.as_json:
        say(as_value(checked))
    else:
        _show(checked)
    if not checked.finished:
        return ExitCode.INFRA
    return ExitCode.DONE if checked.admitted else ExitCode.NO


def _request(options: CheckOptions) -> CheckRequest:
    from harness.suites.admission.frontier import references_of
    from trialbox.checking import CheckRequest

    if options.every == bool(options.suite):
        raise UserError("SUITE", "is missing" if not options.suite else "stands beside --all", "name one, or --all")
    if options.every and options.task:
        raise UserError("--task", "names a task of no suite", "name its suite instead of --all")
    return CheckRequest(
        names=(options.suite,) if options.suite else (),
        tasks=tuple(options.task or ()),
        keep_going=options.keep_going,
        fresh=options.fresh,
        concurrency=options.concurrency,
        references=references_of(options.reference_a, options.reference_b),
    )


def as_value(checked: Checked) -> dict[str, Any]:
    """The one object of ``--json``."""
    from harness.records import to_value

    return {
        "admitted": checked.admitted,
        "tasks": [
            {**to_value(one.admission), "remembered": one.remembered} for suite in checked.suites for one in suite.tasks
        ],
        "suites": [
            {
                "name": one.suite.name,
                "version": one.suite.version,
                "hash": one.ref.hash if one.ref else None,
                "admitted": one.admitted,
                "lock": {"holds": not one.lock, "problem": one.lock},
                "errors": [_told(error) for error in one.suite.errors],
                "unfinished": [{"task": task, **_told(error)} for task, error in one.unfinished.items()],
            }
            for one in checked.suites
        ],
        "minutes": _minutes(checked.wall_us),
        "record": checked.record,
    }


def _told(error: TrialboxError) -> dict[str, str]:
    return {"where": error.where, "problem": error.problem, "remedy": error.remedy}


def _show(checked: Checked) -> None:
    from harness.counted import counted
    from trialbox import console

    for suite in checked.suites:
        console.show_table(ladder_table(suite))
        for one in suite.tasks:
            for reason in one.admission.reasons:
                line(f"{one.admission.id}: {reason}")
            if one.admission.unshown:
                groups = ", ".join(one.admission.unshown)
                line(f"{one.admission.id}: hint: no candidate and no mutant fails {groups}; only the base does")
        for task, fault in suite.unfinished.items():
            line(f"{task}: could not be checked: {fault}")
        for error in suite.suite.errors:
            line(str(error))
        if suite.lock:
            line(f"{suite.suite.name}: lock: {suite.lock}")
    tasks = [one for suite in checked.suites for one in suite.tasks]
    kept = sum(one.remembered for one in tasks)
    admitted = sum(one.admission.admitted for one in tasks)
    line(
        f"{admitted} of {counted(len(tasks), 'task')} admitted, {kept} of them as checked before;"
        f" {_minutes(checked.wall_us)} min"
    )
    line(f"record {checked.record}")


def ladder_table(result: SuiteResult) -> Table:
    """One row for each task: what each rung scores, the mutants, and the other figures."""
    from scoring.report.text import Table

    rungs = ("noop", "wrong", "partial", "breaker", "reference", "ladder")
    columns = ("task", *rungs, "base", "mutants", "time", "admitted")
    rows = tuple(_row(one.admission, one.remembered) for one in result.tasks)
    return Table(f"{result.suite.name} {result.suite.version}", columns, rows)


def _row(one: Admission, remembered: bool) -> tuple[str, ...]:
    from harness.suites.admission.records import Separation

    by_checks = one.separation is Separation.CHECKS

    def rungs(solver: str) -> str:
        found = [rung for rung in one.ladder if rung.solver == solver]
        return " ".join(f"{rung.f} ({rung.checks})" if by_checks else rung.f for rung in found) or "-"

    mutants = "-"
    if one.mutants is not None:
        equivalent = f" ={one.mutants.equivalent}" if one.mutants.equivalent else ""
        mutants = f"{one.mutants.killed}/{one.mutants.total}{equivalent}"
    return (
        one.id,
        *(rungs(solver) for solver in ("noop", "wrong", "partial", "breaker")),
        " ".join(one.reference_scores),
        _ladder(one),
        " ".join(one.base_scores),
        mutants,
        f"{float(one.timing.share):.0%}" if one.timing else "-",
        ("yes" if one.admitted else "NO") + (" (kept)" if remembered else ""),
    )


def _ladder(one: Admission) -> str:
    """Whether the rungs are in order, and by which figure: ``groups``, ``checks``, ``none``, or NO."""
    if one.separation is None or any(reason.startswith("ladder: ") for reason in one.reasons):
        return "NO"
    return one.separation.value


def _minutes(wall_us: int) -> str:
    return f"{wall_us / 60e6:.1f}"


def _list_mutants(request: CheckRequest, as_json: bool) -> ExitCode:
    from trialbox.mutants import list_mutants

    rows = list_mutants(request)
    if as_json:
        say({"mutants": rows})
    for row in [] if as_json else rows:
        mark = "=" if row["equivalent"] else "*" if row["chosen"] else " "
        line(f"{mark} {row['task']} {row['id']}\n      {row['was']}\n   -> {row['now']}")
    return ExitCode.DONE


COMMAND = Command("check", check, CheckOptions, declare)

"""Whether two cards may be compared at all, and which of their measured values may be: each reason in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.gateway.providers import SCRIPTED
from harness.records import Judging, Plan, RunMode, SolverRef, TaskRef
from harness.untrusted import clean_text
from scoring.board import Board

LABS = {
    "anthropic": ("anthropic", ("claude",)),
    "openai": ("openai", ("gpt", "o1", "o3", "o4", "codex")),
    "google": ("google", ("gemini", "gemma")),
    "alibaba": ("", ("qwen",)),
}
"""By lab: the provider that serves its models alone, and how their names begin."""


def refusals(first: Board, second: Board) -> tuple[str, ...]:
    """What forbids a comparison, one line each; none if it may be made."""
    return tuple(_refusals(first, second))


def _refusals(first: Board, second: Board) -> Iterator[str]:
    one, two = first.plan, second.plan
    if one.suite != two.suite:
        yield _differs("suite", *(f"{plan.suite.name} {plan.suite.version}:{plan.suite.hash}" for plan in (one, two)))
    yield from _tasks(one.tasks, two.tasks)
    if one.formula != two.formula:
        yield _differs("formula", one.formula, two.formula)
    yield from _judging(one, two)
    for name, board in (("the first", first), ("the second", second)):
        if board.run.image_drift or any(image.drift for image in board.plan.images):
            yield f"image drift: images of {name} card were built from other versions than locked"
    if rehearsed(one) is not rehearsed(two):
        yield _differs("mode and provider", *(f"{plan.mode.value}/{clean_text(plan.provider)}" for plan in (one, two)))


def rehearsed(plan: Plan) -> bool:
    """Whether no model was ever asked, so that its figures say nothing about one."""
    return plan.mode is RunMode.DRY or plan.provider == SCRIPTED


def _tasks(one: Sequence[TaskRef], two: Sequence[TaskRef]) -> Iterator[str]:
    mine, theirs = ({task.task: task.score_hash for task in tasks} for tasks in (one, two))
    for label, names in (
        ("only on the first card", sorted(mine.keys() - theirs.keys())),
        ("only on the second card", sorted(theirs.keys() - mine.keys())),
        ("of another score hash", sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name])),
    ):
        if names:
            yield f"selected tasks: {label}: {_some(names)}"


def _judging(one: Plan, two: Plan) -> Iterator[str]:
    protocols = [None if plan.judging is None else plan.judging.protocol for plan in (one, two)]
    if protocols[0] != protocols[1]:
        yield _differs("judge protocol", *(name or "none" for name in protocols))
    elif (one.judging and (one.judging.panel, one.judging.kind)) != (
        two.judging and (two.judging.panel, two.judging.kind)
    ):
        yield _differs("judge panel", *(_panel(plan.judging) for plan in (one, two)))
    for judging in filter(None, (one.judging, two.judging)):
        shared = sorted({judge.lab for judge in judging.panel} & {*labs(one), *labs(two)})
        if shared:
            yield f"judge panel: not neutral: {', '.join(shared)} made a judge and a model on the two cards"
            return


def labs(plan: Plan) -> frozenset[str]:
    """The labs whose models attempt, as far as provider and model name tell."""
    return frozenset(lab for solver in plan.solvers if (lab := lab_of(solver)) is not None)


def lab_of(solver: SolverRef) -> str | None:
    """The lab of a solver's model; None where it has none or nobody can tell."""
    if solver.provider is None:
        return None
    model = solver.model.lower().rpartition("/")[2]
    return next(
        (
            lab
            for lab, (provider, names) in LABS.items()
            if model.startswith(names) or (provider and solver.provider == provider)
        ),
        None,
    )


def _panel(judging: Judging | None) -> str:
    if judging is None:
        return "none"
    return f"{judging.kind.value}: " + ", ".join(
        f"{clean_text(one.model)} ({clean_text(one.lab)})" for one in judging.panel
    )


# ---------------------------------------------------------------------------------------------------- measured values


def withheld(first: Board, second: Board) -> tuple[str, ...]:
    """What forbids a difference of times or energies, one line each."""
    return tuple(_withheld(first, second))


def _withheld(first: Board, second: Board) -> Iterator[str]:
    one, two = (
        f"{b.host.cpu_model}, {b.host.cpus} CPUs, {b.host.memory_bytes >> 30} GiB, {b.host.architecture}"
        for b in (first, second)
    )
    if one != two:
        yield _differs("hardware", clean_text(one), clean_text(two))
    mine, theirs = (f"{board.harness.version} {board.harness.commit}" for board in (first, second))
    if mine != theirs:
        yield _differs("harness version", clean_text(mine), clean_text(theirs))
    if first.harness.dirty or second.harness.dirty:
        yield "harness version: a tree with changes that no commit names"
    if first.run.concurrency != second.run.concurrency:
        yield _differs("concurrency", str(first.run.concurrency), str(second.run.concurrency))
    modes = [", ".join(mode.value for mode in board.run.execution_modes) for board in (first, second)]
    if modes[0] != modes[1]:
        yield _differs("execution mode", *modes)


def withheld_energy(first: Board, second: Board, mine: str, theirs: str) -> tuple[str, ...]:
    """What more forbids a difference of two solvers' energies."""
    reasons = []
    for board, name in ((first, mine), (second, theirs)):
        if (reason := board.solvers[name].energy.reason) is not None:
            reasons.append(f"{clean_text(name)}: {reason}")
    one, two = first.energy.get(mine), second.energy.get(theirs)
    if one is not None and two is not None and one != two:
        reasons.append("meter, provenance, zones, scope, host or assumed watts differ")
    return tuple(dict.fromkeys(reasons))


def remarks(first: Board, second: Board) -> tuple[str, ...]:
    """What differs and forbids nothing, but a reader must know."""
    return tuple(_remarks(first, second))


def _remarks(first: Board, second: Board) -> Iterator[str]:
    if first.id == second.id:
        yield "both are the same card"
    one, two = first.plan, second.plan
    if one.partial:
        yield "both cards are partial: tasks of the suite were left out"
    if one.attempts != two.attempts:
        yield _differs("attempts of each cell", str(one.attempts), str(two.attempts))
    if one.best_of != two.best_of:
        yield "attempts are picked from (best of N) on one card, or otherwise than on the other"
    if one.budget != two.budget:
        yield "budgets of an attempt differ"
    if first.host.kernel != second.host.kernel:
        yield _differs("kernel", clean_text(first.host.kernel), clean_text(second.host.kernel))
    engines = [
        f"{b.engine.kind} {b.engine.version}, {b.engine.runtime} {b.engine.runtime_version}" for b in (first, second)
    ]
    if engines[0] != engines[1]:
        yield _differs("engine", *map(clean_text, engines))


def same_scanner(first: Board, second: Board) -> bool:
    """Whether Q and S were made by the same tools."""
    scanners = [{(one.name, one.id) for one in b.plan.images if one.name == "scanner"} for b in (first, second)]
    return scanners[0] == scanners[1]


def _differs(what: str, one: str, two: str) -> str:
    return f"{what}: {one} against {two}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(clean_text, names[:5]))
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")

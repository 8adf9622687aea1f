"""A card's rates with their intervals, and its solvers against each other."""

from __future__ import annotations

from fractions import Fraction

from harness.untrusted import clean_text
from scoring.card import Card
from scoring.contrasts import Contrast
from scoring.rates import Estimate
from scoring.report.detectable import detectable, limits
from scoring.report.table import NONE, Table, places
from scoring.statistics.paired import Verdict

_AT = ("solver", "k", "pass@k", "pass^k", "raw pass@k", "raw pass^k")
_AGAINST = ("solver", "against", "tasks", "won", "lost", "tied", "difference", "95% interval", "McNemar p", "Holm p")
_SHOWN = {Verdict.BETTER: "better", Verdict.WORSE: "worse", Verdict.NOT_SEPARATED: "not separated"}


def tables(card: Card) -> tuple[Table, ...]:
    """pass@k and the comparisons; nothing where attempts or solvers are single."""
    found = []
    rows = [
        (
            clean_text(solver.name),
            str(one.k),
            *map(estimate, (one.pass_at, one.pass_all, one.pass_at_raw, one.pass_all_raw)),
        )
        for solver in card.core.plan.solvers
        if (rates := card.core.aggregates[solver.name].rates) is not None
        for one in rates.at
    ]
    if rows:
        found.append(Table("pass@k: one of k attempts solves; pass^k: all k do", _AT, tuple(rows)))
    if card.core.comparisons:
        against = tuple(_against(one) for one in card.core.comparisons)
        title = "solvers against each other, by task (pass@1)"
        found.append(Table(title, (*_AGAINST, "detectable", "verdict"), against))
    return tuple(found)


def notes(card: Card) -> list[str]:
    """How to read them, and why a figure is missing."""
    if not card.core.statistics:
        return []
    said = [
        "intervals are at 95%, tasks being what was sampled: Wilson's, and with several attempts a task Wilson's with "
        "the number of independent tries that they are worth; raw figures take every excluded attempt as a failure"
    ]
    rows = [
        (clean_text(solver.name), rates)
        for solver in card.core.plan.solvers
        if (rates := card.core.aggregates[solver.name].rates) is not None
    ]
    known = [(name, one.minimum_detectable, one.pass_at_1.available) for name, one in rows]
    apart = [(name, shown) for name, value, tasks in known if (shown := detectable(value, tasks)) != NONE]
    if apart:
        said.append(
            "unpaired, a solver this far off is told apart in 80% of runs: "
            + ", ".join(f"{name} {shown}" for name, shown in apart)
            + limits(tasks for *_, tasks in known)
        )
    for name, one in rows:
        reasons = dict.fromkeys(at.pass_at.reason for at in one.at if at.pass_at.reason)
        said += [f"{name}: pass@k unavailable ({reason})" for reason in reasons]
    if many := len(card.core.comparisons):
        together = f", and hold for all {many} of them together (Holm, of that test)" if many > 1 else ""
        said.append(
            f"verdicts are by the paired difference over tasks{together}; detectable is the difference that such a "
            f"comparison finds in 80% of runs{limits(one.paired.tasks for one in card.core.comparisons)}"
        )
    return said


def estimate(one: Estimate) -> str:
    """A rate and its interval; a dash where there is none."""
    if one.value is None:
        return NONE
    if not one.intervals:
        return _places(one.value)
    shown = one.intervals[0]
    return f"{_places(one.value)} ({_places(shown.low)} to {_places(shown.high)})"


def _against(one: Contrast) -> tuple[str, ...]:
    pair = one.paired
    return (
        clean_text(one.first),
        clean_text(one.second),
        str(pair.tasks),
        str(pair.won),
        str(pair.lost),
        str(pair.tied),
        _places(pair.difference),
        f"{_places(pair.low)} to {_places(pair.high)}",
        _places(pair.p_value),
        _places(one.p_adjusted),
        detectable(pair.minimum_detectable, pair.tasks),
        _SHOWN[one.verdict],
    )


def _places(value: str) -> str:
    return places(Fraction(value))

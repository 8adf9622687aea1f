"""A comparison as tables of text."""

from __future__ import annotations

from fractions import Fraction

from harness.untrusted import clean_text
from scoring.compare import Comparison, Difference, Pair, Side
from scoring.differences import MeasuredDifference
from scoring.figures import DecimalString
from scoring.report.detectable import detectable, limits
from scoring.report.table import NONE, Table, places
from scoring.report.text import Report
from scoring.statistics.paired import Paired, Verdict

_SAID = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.NOT_SEPARATED: "not separated",
}


def make_report(found: Comparison) -> Report:
    """The report of a comparison. Everything in it is safe to print on a terminal."""
    tables = [_summary(found)]
    for pair in found.pairs:
        tables += [_tasks(pair), _differences(pair), _measured(pair)]
    return Report(
        head=(_side("A", found.first), _side("B", found.second), "every difference is B minus A"),
        tables=tuple(tables),
        notes=tuple(_notes(found)),
        last="; ".join(f"{_name(pair)}: {_SAID[pair.verdict]}" for pair in found.pairs),
    )


def _side(letter: str, side: Side) -> str:
    partial = ", partial: tasks of the suite were left out" if side.partial else ""
    return f"{letter}: card {side.id}, mode {side.mode}, provider {clean_text(side.provider)}{partial}"


def _name(pair: Pair) -> str:
    one, two = clean_text(pair.first), clean_text(pair.second)
    return one if one == two else f"{one} -> {two}"


def _summary(found: Comparison) -> Table:
    rows = []
    for pair in found.pairs:
        solved = pair.solved.paired
        rows.append(
            (
                _name(pair),
                f"{pair.cells} of {pair.planned_first} and {pair.planned_second}",
                NONE if solved is None else _signed(solved.difference),
                NONE if solved is None else _interval(solved),
                NONE if pair.adjusted_p is None else _short(pair.adjusted_p),
                NONE if solved is None else detectable(solved.minimum_detectable, solved.tasks),
                _SAID[pair.verdict],
            )
        )
    p_name = "paired p (Holm)" if len(found.pairs) > 1 else "paired p"
    columns = ("solver", "cells scored on both", "solved", "95% interval", p_name, "detectable", "B is")
    return Table("solved tasks, B against A", columns, tuple(rows))


def _tasks(pair: Pair) -> Table:
    rows = tuple(
        (
            clean_text(row.task),
            f"{row.first_solved}/{row.cells}",
            f"{row.second_solved}/{row.cells}",
            NONE if row.first_f is None else _short(row.first_f),
            NONE if row.second_f is None else _short(row.second_f),
            ("" if row.change.value == "same" else row.change.value) + (" (flipped)" if row.flipped else ""),
        )
        for row in pair.tasks
    )
    return Table(f"tasks of {_name(pair)}", ("task", "A solved", "B solved", "A F", "B F", ""), rows)


def _differences(pair: Pair) -> Table:
    rows = tuple(
        (
            one.name,
            *_paired(one),
            NONE if one.paired is None else f"{one.paired.won}/{one.paired.lost}/{one.paired.tied}",
            "" if one.paired is None else _SAID[one.paired.verdict],
        )
        for one in pair.differences
    )
    columns = ("figure", "difference", "95% interval", "tasks", "B won/lost/tied", "alone")
    return Table(f"paired differences of {_name(pair)}, each by itself", columns, rows)


def _paired(one: Difference) -> tuple[str, str, str]:
    if one.paired is None:
        return NONE, clean_text(one.reason), NONE
    return _signed(one.paired.difference), _interval(one.paired), str(one.paired.tasks)


def _measured(pair: Pair) -> Table:
    rows = tuple(
        (
            one.name,
            _value(one, one.first),
            _value(one, one.second),
            f"withheld: {clean_text(one.reason, 300)}" if one.difference is None else _signed(one.difference),
        )
        for one in pair.measured
    )
    return Table(f"measured values of {_name(pair)}", ("value", "A", "B", "difference"), rows)


def _value(one: MeasuredDifference, value: DecimalString | None) -> str:
    """A value in its unit; where either side's energy is not reliable, both are marked."""
    mark = "~" if one.unit == "J" and "unreliable" in one.reason else ""
    return NONE if value is None else f"{mark}{_short(value)} {one.unit}".rstrip()


def _notes(found: Comparison) -> list[str]:
    notes = [f"times and energies are not compared: {clean_text(reason)}" for reason in found.withheld]
    for pair in found.pairs:
        for label, names in (("gained", pair.gained), ("lost", pair.lost)):
            if names:
                notes.append(f"{_name(pair)}: {label} {', '.join(map(clean_text, names))}")
        notes += [f"{_name(pair)}: {clean_text(note)}" for note in pair.notes]
    for label, names in (("A", found.only_first), ("B", found.only_second)):
        if names:
            notes.append(f"only on {label}: {', '.join(map(clean_text, names))}")
    if len(found.pairs) > 1:
        notes.append(f"{len(found.pairs)} pairs: B is better or worse only where Holm's adjusted p is at most 0.05")
    sizes = [pair.solved.paired.tasks for pair in found.pairs if pair.solved.paired is not None]
    if said := limits(sizes):
        notes.append(f"detectable: what such a comparison finds in 80% of runs{said}")
    methods = sorted({one.paired.method for pair in found.pairs for one in pair.differences if one.paired})
    notes += [f"intervals: {method}" for method in methods]
    return [*notes, *(clean_text(note) for note in found.notes)]


def _interval(one: Paired) -> str:
    return f"{_signed(one.low)} to {_signed(one.high)}"


def _signed(value: DecimalString) -> str:
    text = places(Fraction(value))
    return text if text.startswith("-") else f"+{text}"


def _short(value: DecimalString) -> str:
    return places(Fraction(value))

"""A card's frontiers as one table: every point, on it or not, and why one is kept off."""

from __future__ import annotations

from fractions import Fraction

from harness.untrusted import clean_text
from scoring.card import Card
from scoring.expense import Axis
from scoring.frontier import Frontier, Point
from scoring.report.table import NONE, Table, places

_COLUMNS = ("by", "point", "pass@1", "one attempt takes", "frontier", "hull", "in resamples", "kept off since")
_UNITS = {Axis.JOULES: "J", Axis.DOLLARS: "$", Axis.TOKENS: "tokens", Axis.WALL: "s"}


def tables(card: Card) -> tuple[Table, ...]:
    """The frontiers; none on a card from before there were any."""
    found = card.measured.frontiers
    rows = tuple(_row(one, point) for one in found for point in one.points)
    return (Table("frontiers: solved, and what it takes", _COLUMNS, rows),) if rows else ()


def notes(card: Card) -> list[str]:
    """What the points of each frontier share; those of different frontiers do not compare."""
    found = card.measured.frontiers
    said = [f"frontier by {one.axis.value}: {one.group}" for one in found]
    if any(point.frontier for one in found for point in one.points):
        said.append(
            "on the frontier: no other point of its kind solves as much for less; in resamples: the share of 1,000 "
            "resamples of the tasks in which it is on it"
        )
    return said


def _row(one: Frontier, point: Point) -> tuple[str, ...]:
    mark = "~" if one.axis is Axis.JOULES and point.reason.startswith("unreliable") else ""
    spent = (
        _places(point.spent) if point.spent is not None else f"≥{_places(point.at_least)}" if point.covered else NONE
    )
    return (
        one.axis.value,
        clean_text(point.name),
        NONE if point.rate is None else _places(point.rate),
        f"{mark}{spent} {_UNITS[one.axis]}"
        + ("" if point.spent is not None else f" ({point.covered}/{point.of} known)"),
        "yes" if point.frontier else "no" if not point.reason else NONE,
        "yes" if point.hull else "no" if not point.reason else NONE,
        NONE if point.membership is None else _places(point.membership),
        clean_text(point.reason) or NONE,
    )


def _places(value: str) -> str:
    return places(Fraction(value))

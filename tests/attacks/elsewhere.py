"""The rows of the catalogue of known attacks that are no probes here, each with its reason; and all its ids."""

from __future__ import annotations

from collections.abc import Mapping

_LAST = {"AT": range(1, 24), "CA": range(1, 20), "RS": range(1, 6), "SC": range(1, 7), "RP": range(1, 8)}
CATALOGUE = frozenset(
    f"{kind}-{number:02d}"
    for kind, numbers in {**_LAST, "GR": (*range(1, 14), *range(20, 36))}.items()
    for number in numbers
)
"""Ids of all known attacks; there are 89."""

NO_PROBE: Mapping[str, str] = {
    "RP-01": "Scripts in a page. There is no page: reports are text on a terminal, and JSON.",
    "RP-04": "Instructions to a judge in the work. No judge reads a candidate's work: verdicts come from tests alone, "
    "and quality (C) is not judged yet. A judge would need this probe.",
    "RP-05": "Forged markup of a judge's verdict. As RP-04.",
    "RP-06": "Instructions to a model that watches. As RP-04: audits are rules over traces, and no model takes part.",
}

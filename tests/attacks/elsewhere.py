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
    "GR-28": "Replay by object identity or warm-up inputs. Nothing here is timed over iterations: every input is given "
    "once, in a process of its own or a fresh worker, and no score is a time.",
    "GR-31": "Noticing that it is graded. A candidate may know; it gains nothing, since what is graded is all that "
    "counts, and in a host-held group what is expected is not there.",
    "CA-10": "Races against the engine's own copying of files. It is not used: GNU tar in a container that runs "
    "nothing of the candidate's reads a tree whose writers are dead. A race has no verdict that is the same each time.",
    "CA-11": "Mounts that are derived from what an agent wrote. There is no such mount: volumes have random names and "
    "bound folders are made by the host for one attempt.",
    "RP-01": "Scripts in a page. There is no page: reports are text on a terminal, and JSON.",
    "RP-04": "Instructions to a judge in the work. No judge reads a candidate's work: verdicts come from tests alone.",
    "RP-05": "Forged markup of a judge's verdict. As RP-04.",
    "RP-06": "Instructions to a model that watches. As RP-04: audits are rules over traces, and no model takes part.",
}

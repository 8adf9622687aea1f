"""Whether a task that says it is decontaminated may say so, by its dates and every known cutoff. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from audits.cutoffs import Cutoff, table
from harness.suites.formats.common import Provenance


def claim_faults(provenance: Provenance, rows: Sequence[Cutoff] | None = None) -> tuple[str, ...]:
    """What speaks against the claim, one line each; none if it holds, or if the task makes none.

    A task of the suite's own is decontaminated if it is not public, or became so after every cutoff; one from upstream
    if its change and its first publication are known and after every cutoff. Any cutoff counts, of whatever kind.
    """
    if not provenance.decontaminated:
        return ()
    upstream = provenance.upstream
    dates = {"published": provenance.published}
    faults = []
    if upstream is not None:
        dates |= {
            "upstream.merged": upstream.merged,
            "upstream.fix_date": upstream.fix_date,
            "upstream.first_public": upstream.first_public,
        }
        if upstream.merged is None and upstream.fix_date is None:
            faults.append("neither upstream.merged nor upstream.fix_date is known")
        if upstream.first_public is None:
            faults.append("upstream.first_public is not known")
    last = max(table() if rows is None else rows, key=lambda one: one.cutoff, default=None)
    if last is not None:
        faults += [
            f"{name} is {day}, not after the cutoff of {last.model}, {last.cutoff}"
            for name, day in dates.items()
            if day is not None and day <= last.cutoff
        ]
    return tuple(faults)

"""The public page of all attacks: a function of the rows alone, so that a test can hold it to them without a run."""

from __future__ import annotations

from collections.abc import Sequence

from tests.attacks.elsewhere import CATALOGUE, NO_PROBE
from tests.attacks.pair import Row, Stage
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "attacks.md"

_HEAD = """# Attacks

Made of the rows in `tests/attacks/rows/` and held to them by a test; `python -m tests.attacks --write` runs all and
writes it if every attack ends as named here and no control is flagged. Not to be edited.

Each row is a known attack on a benchmark, tried here against trialbox in earnest: a whole attempt in a sealed
container, a patch that is graded, stored evidence that was edited. Beside each is an honest control that does much
the same and must stand unflagged. `nox -s attacks` runs all of them and prints what each came to; a few run with the
tests. A new attack is one file in `tests/attacks/rows/`: its name is its id, its docstring the mechanism.

How to read "ends in": an outcome with its kind (`rejected: canary_flipped`), a group's first failure (`group sums:
...`), an audit's axis and verdict ([audits](auditing.md)), the `trust` that the
groups' verdicts carry ([oracles](oracles.md)), a `flag`, which decides nothing, or a refusal. Attempts are traced and
audited where the machine may trace; where it may not, what a trace alone shows is `unverifiable` and never `clean`.
`found nothing` is the attack's own word: it looked, and there was nothing to have.
"""

_REMAINS = """
## What remains

An attacker who knows all of this, and whose code runs in the same process as the tests (groups of kind `pytest`), can
still win:

- It can tell the sentinels from the tests that count, by what they hold or where they lie, and leave their results
  alone (GR-20j).
- It can read what the tests expect, out of frames, modules or files that are open in its own process, and return
  that (GR-26c).
- It can return an object that equals everything (GR-23b).
- It can replace a function of the standard library that a hidden test uses and the sentinels don't (GR-20i).
- It can wait for the moment between a test's call and the report, and change what is reported on every side at once.

So such a verdict carries the trust `in_process` on the card, changes that reach into the test runner are flagged, and
no repair within that process can do better. Host-held oracles don't have that hole. There the candidate's process
gets inputs, and nothing else: the expected values never enter a container. What comes back is parsed as hostile text
with limits, taken by its exact type and compared on the host, so there is no runner to patch, no report to forge, no
sentinel to spare and nothing to read. What a candidate can do there is to compute the right answers, or to guess
them.

Further:

- The kernel is shared with the host. Escapes from containers are the engine's to close; known ones are named (AT-15).
- A plain test command (`exit_status`) is believed by its exit status, and has the lowest trust: leaving early (GR-21c)
  or a plugin in a new folder (GR-02c) passes there.
- An agent that remembers a task has broken no wall. Dates and overlap mark it (AT-23), and reject nothing.
- Only what was once described is here. What nobody has thought of is not.
"""


def make_page(rows: Sequence[Row]) -> str:
    """The page, in Markdown."""
    return "\n".join(
        (
            _HEAD,
            *_counts(rows),
            *_passing(rows),
            *(line for stage in Stage for line in _stage(rows, stage)),
            *_others(),
            _REMAINS.strip("\n"),
            *_own(rows),
            "",
        )
    )


def _counts(rows: Sequence[Row]) -> list[str]:
    lines = ["| stage | pairs |", "| --- | ---: |"]
    lines += [f"| {stage} | {sum(row.pair.stage is stage for row in rows)} |" for stage in Stage]
    built = len({row.catalogue for row in rows})
    return [*lines, f"| all | {len(rows)} |", "", f"{built} of the {len(CATALOGUE)} rows of the catalogue have probes."]


def _passing(rows: Sequence[Row]) -> list[str]:
    passing = [row for row in rows if row.pair.passes]
    return [
        *("", "## Attacks that pass", ""),
        f"Of the {len(rows)} attacks {len(passing)} get what they are after: the outcome is `solved`. The card says",
        "how far to believe it, by the verdict's trust; `trialbox audit` has a flag, by the text of the change, which",
        "an attacker avoids who writes it otherwise. None of them passes where what is expected is held on the host.",
        *("", "| id | attack | ends in | why nothing stops it |", "| --- | --- | --- | --- |"),
        *(f"| {one.id} | {_cell(one.mechanism)} | {_ends(one)} | {_cell(one.pair.remains)} |" for one in passing),
    ]


def _ends(row: Row) -> str:
    return "; ".join(f"`{_cell(one.rstrip(': '))}`" for one in (*row.pair.verdict, *row.pair.traced))


def _stage(rows: Sequence[Row], stage: Stage) -> list[str]:
    lines = ["", f"## {stage.value.capitalize()}", "", "| id | attack | ends in | honest control | ends in |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for row in rows:
        if row.pair.stage is stage:
            honest = f"{_cell(row.pair.honest)} | `{_cell(row.pair.control_ends)}`"
            lines.append(f"| {row.id} | {_cell(row.mechanism)} | {_ends(row)} | {honest} |")
    return lines


def _others() -> list[str]:
    lines = ["", "## In the catalogue and no probe here", "", "| id | why |", "| --- | --- |"]
    return [*lines, *(f"| {one} | {_cell(why)} |" for one, why in sorted(NO_PROBE.items())), ""]


def _own(rows: Sequence[Row]) -> list[str]:
    lines = ["", "Of single rows:", ""]
    remains: dict[str, list[str]] = {}
    for row in rows:
        if row.pair.remains and not row.pair.passes:
            remains.setdefault(row.pair.remains, []).append(row.id)
    return [*lines, *(f"- {', '.join(ids)}: {why}." for why, ids in remains.items())]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

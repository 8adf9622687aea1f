"""``trialbox reproduce``: a card from its hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser, whole
from trialbox.guard import line, of_a_card, say

if TYPE_CHECKING:
    from trialbox.reproducing import Reproduced

_LISTED = 40
"""Differing fields that are printed; --json has all."""


class ReproduceOptions(Options):
    """What ``reproduce`` takes."""

    card: str
    sample: int | None
    seed: int
    fresh: bool
    concurrency: int | None
    suite: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    about = "a card's id or its beginning, a card file, latest (default), or a bundle: a file or a folder"
    add("card", metavar="CARD|BUNDLE", nargs="?", default="latest", help=about)
    add("--sample", type=whole, metavar="N", help="grade only N attempts, chosen by --seed; says nothing of the rest")
    add("--seed", type=whole, default=0, metavar="N", help="which sample (default 0)")
    add("--fresh", action="store_true", help="grade everything, whatever was graded here before")
    add("--concurrency", type=whole, metavar="N", help="gradings at once (default: the engine's cores, at most 4)")
    add("--suite", metavar="FOLDER", help="the card's suite, where it is not an installed one")


@of_a_card
def reproduce(options: ReproduceOptions) -> ExitCode:
    """Grade a card's stored changes again and compare: 0 if its core comes out the same, 1 if not.

    Every blob is verified first. Each image comes by its id from the engine, the bundle, or a build from its lock. What
    no grading can give (a limit that was reached, a provider's fault) is taken from the evidence, and listed as such.
    A cell that differs is graded three times more and called stable or flaky.
    """
    from trialbox import display, places
    from trialbox.regrading import Asked
    from trialbox.reproducing import reproduce as run

    asked = Asked(options.sample, options.seed, options.fresh, options.concurrency, options.suite)
    with display.shown() as progress:
        done = run(options.card, asked, places.state(), progress)
    if options.as_json:
        say(as_json(done))
    else:
        for text in as_text(done):
            line(text)
    return ExitCode.DONE if done.result.agrees else ExitCode.NO


def as_json(done: Reproduced) -> dict[str, object]:
    """The one object."""
    from harness.records import to_value

    return {
        **to_value(done.result),
        "blobs": done.blobs,
        "suite": done.suite,
        "images": [
            {
                "name": one.image.ref.name,
                "id": one.image.ref.id,
                "from": one.origin.value,
                "published": one.published,
                "drift": one.image.ref.drift,
            }
            for one in done.images
        ],
    }


def as_text(done: Reproduced) -> list[str]:
    """The same for a reader; the verdict comes last."""
    from collections import Counter

    from scoring.reproduce import Basis

    result = done.result
    images = ", ".join(f"{one.image.ref.name} ({one.origin.value})" for one in done.images)
    lines = [f"evidence: {done.blobs} blobs are whole", f"suite: {done.suite}", f"images: {images}"]
    lines += [
        f"image {one.image.ref.name}: no lock of this trialbox gives it, so it is its publisher's word"
        for one in done.images
        if not one.published
    ]
    count = Counter(one.basis for one in result.cells)
    lines.append("cells: " + ", ".join(f"{count[basis]} {basis.value}" for basis in Basis if count[basis]))
    notes = Counter((one.basis, one.note) for one in result.cells if one.note)
    lines += [f"  {number} {basis.value}: {note}" for (basis, note), number in notes.items()]
    for one in result.differences[:_LISTED]:
        where = f" ({one.cell}, {'flaky' if one.flaky else 'stable'})" if one.cell else ""
        lines.append(f"{one.field}: the card says {one.card}, here it is {one.here}; likely {one.cause.value}{where}")
    if len(result.differences) > _LISTED:
        lines.append(f"and {len(result.differences) - _LISTED} more fields; --json has them all")
    for cell in result.cells:
        if cell.flaky is not None:
            said = "flaky: grading it again gives now this, now that" if cell.flaky else "stable: three times the same"
            lines.append(f"cell {cell.cell.key} is {said}")
    return [*lines, verdict(done)]


def verdict(done: Reproduced) -> str:
    """The last line."""
    result = done.result
    if result.part is not None:
        part = f"{result.part.cells} of {result.part.of} cells (seed {result.part.seed})"
        if result.agrees:
            return f"partial: {part} agree with card {result.card}; the rest was not graded again"
        return f"not reproduced: in a sample of {part}, card {result.card} differs in {len(result.differences)} fields"
    if result.reproduced:
        return f"reproduced: core {result.core_digest}"
    return f"not reproduced: the card's core is {result.core_digest}, here it is {result.core_digest_here}"


COMMAND = Command("reproduce", reproduce, ReproduceOptions, declare)

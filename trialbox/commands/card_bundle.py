"""``trialbox card bundle``: a card with all that reproducing it needs, in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import line, of_a_card, say

if TYPE_CHECKING:
    from scoring.bundle import Size


class BundleOptions(Options):
    """What ``bundle`` takes."""

    name: str
    output: str
    without_images: bool
    suite: str | None
    reviewed: list[str] | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    about = "a card's id or its beginning, a card file, or latest (default)"
    add("name", metavar="CARD", nargs="?", default="latest", help=about)
    form = "the file to write; a name that ends with / (or an empty folder) gets the layout as a folder"
    add("--output", metavar="FILE|DIR", required=True, help=form)
    add("--without-images", action="store_true", help="leave the images out; their locks are in it all the same")
    add("--suite", metavar="FOLDER", help="the card's suite, where it is not an installed one")
    about = "a blob that was refused for text in the shape of a key, and that you looked at: it holds none (repeatable)"
    add("--reviewed", metavar="DIGEST", action="append", help=about)


@of_a_card
def bundle(options: BundleOptions) -> ExitCode:
    """Write a card, its evidence, its suite and its images to one file, an OCI layout.

    Sizes are listed first. The same card gives the same bytes. A bundle with a key in it is refused; text that only
    looks like one is let through in the blobs that --reviewed names, and the bundle says which those are.
    """
    from trialbox import display, places
    from trialbox.packing import bundle_card

    listed: list[Size] = []

    def tell(sizes: tuple[Size, ...]) -> None:
        listed.extend(sizes)
        for one in () if options.as_json else sizes:
            line(f"{one.kind.value:<10} {one.blobs:>7} blobs {one.bytes:>14,} bytes")

    with display.shown() as progress:
        done = bundle_card(
            options.name,
            options.output,
            places.state(),
            progress,
            images=not options.without_images,
            suite=options.suite,
            reviewed=options.reviewed or (),
            listed=tell,
        )
    if options.as_json:
        say(
            {
                "sizes": [{"kind": one.kind.value, "blobs": one.blobs, "bytes": one.bytes} for one in listed],
                "card": done.card.id,
                "core_digest": done.card.core_digest,
                "file": str(done.path),
                "bytes": done.size,
                "images_left_out": list(done.left_out),
            }
        )
        return ExitCode.DONE
    if done.left_out:
        line(f"not in it: image {', '.join(done.left_out)}")
    line(f"wrote {done.path}: {done.size:,} bytes, card {done.card.id}")
    return ExitCode.DONE


COMMAND = Command("bundle", bundle, BundleOptions, declare)

"""``trialbox images``: build, verify and list the container images."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.errors import ExitCode
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.guard import line, say


class ImageOptions(Options):
    """What ``verify`` takes."""

    names: list[str]
    builder: str | None


class BuildOptions(ImageOptions):
    """What ``build`` takes."""

    again: bool
    relock: bool


def declare(parser: Parser) -> None:
    """The arguments of both."""
    parser.add_argument("names", metavar="IMAGE", nargs="*", help="image names; all by default")
    parser.add_argument("--builder", metavar="IMAGE", help="build inside this Debian-family image of the engine")


def declare_build(parser: Parser) -> None:
    """The arguments of ``build``."""
    declare(parser)
    parser.add_argument("--again", action="store_true", help="build even what is there already")
    parser.add_argument("--relock", action="store_true", help="write new locks from what the mirrors have now")


def build_images(options: BuildOptions) -> ExitCode:
    """Have the images in the engine, building what is missing."""
    from harness.engine import images
    from harness.engine.connect import connect
    from harness.records import to_value
    from trialbox import places

    make = images.relock if options.relock else images.build if options.again else images.ensure
    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        built = [
            make(engine.api, name, cache=cache, images_dir=where, report=_note, builder=options.builder)
            for name in _wanted(options.names)
        ]
    rows = [{**to_value(one.ref), "handle": one.handle, "size": one.size} for one in built]
    if options.as_json:
        say({"images": rows})
    for row in [] if options.as_json else rows:
        line(f"{row['name']} {row['id']}" + (" IMAGE DRIFT" if row["drift"] else ""))
    return ExitCode.DONE


def verify_images(options: ImageOptions) -> ExitCode:
    """Build each image twice from nothing: 0 if both give the locked id, 1 if not."""
    from harness.engine import images
    from harness.engine.connect import connect
    from trialbox import places

    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        results = images.verify(
            engine.api, _wanted(options.names), cache=cache, images_dir=where, report=_note, builder=options.builder
        )
    if options.as_json:
        say({"images": [vars(one) for one in results]})
    for one in [] if options.as_json else results:
        verdict = "same id twice" if one.same else f"NOT REPRODUCED: then {one.second}"
        line(f"{one.name} {one.first}: {verdict}" + ("" if one.matches_lock else "; not the id of the lock"))
    return ExitCode.DONE if all(one.same and one.matches_lock for one in results) else ExitCode.NO


def list_the_images(options: Options) -> ExitCode:
    """List the images: their ids, and whether the engine has them."""
    from harness.engine.connect import connect
    from harness.engine.images import list_images
    from harness.errors import InfraError
    from trialbox import places

    where = places.data_folder("images")
    try:
        with connect(start=False, notify=_note) as engine:
            rows = list_images(engine.api, images_dir=where)
    except InfraError:
        rows = list_images(None, images_dir=where)
    if options.as_json:
        say({"images": [vars(one) for one in rows]})
    for one in [] if options.as_json else rows:
        line(f"{one.name} {one.id or 'not locked'}" + ("" if one.handle is None else "  in the engine"))
    return ExitCode.DONE


def _wanted(wanted: list[str]) -> Sequence[str]:
    from harness.engine.images.recipe import names
    from trialbox import places

    return wanted or names(places.data_folder("images"))


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")


GROUP = Group(
    "images",
    "The container images, built from their locks.",
    (
        Command("build", build_images, BuildOptions, declare_build),
        Command("verify", verify_images, ImageOptions, declare),
        Command("list", list_the_images, Options),
    ),
)

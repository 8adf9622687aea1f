"""``trialbox images``: build, verify and list the container images, and the bundles of agents."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.errors import ExitCode
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.guard import line, say

if TYPE_CHECKING:
    from harness.bundles import VerifiedBundle
    from harness.engine.images import VerifyResult
    from harness.program import Program


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
    parser.add_argument(
        "names", metavar="IMAGE", nargs="*", help="image names, agents/NAME, or agents; all images by default"
    )
    parser.add_argument("--builder", metavar="IMAGE", help="build inside this Debian-family image of the engine")


def declare_build(parser: Parser) -> None:
    """The arguments of ``build``."""
    declare(parser)
    parser.add_argument("--again", action="store_true", help="build even what is there already")
    parser.add_argument("--relock", action="store_true", help="write new locks from what the mirrors have now")


def build_images(options: BuildOptions) -> ExitCode:
    """Have the images in the engine, building what is missing; fetch the releases that tasks start from."""
    from harness.engine import images
    from harness.engine.connect import connect
    from harness.records import to_value
    from harness.suites.load import fetch_releases
    from trialbox import bundling, places

    make = images.relock if options.relock else images.build if options.again else images.ensure
    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        built = [
            make(engine.api, name, cache=cache, images_dir=where, report=_note, builder=options.builder)
            for name in _wanted(options.names)
        ]
        agents = bundling.build(
            engine, options.names, _note, options.builder, again=options.again, relock=options.relock
        )
    if not options.names:
        fetch_releases(places.data_folder("tasks"), places.releases())
    rows = [{**to_value(one.ref), "handle": one.handle, "size": one.size} for one in built]
    if options.as_json:
        say({"images": rows, "bundles": [{**vars(one), "path": str(one.path)} for one in agents]})
        return ExitCode.DONE
    for row in rows:
        line(f"{row['name']} {row['id']}" + (" IMAGE DRIFT" if row["drift"] else ""))
    for one in agents:
        line(f"agents/{one.name} {one.digest}" + (" IMAGE DRIFT" if one.drift else ""))
    return ExitCode.DONE


def verify_images(options: ImageOptions) -> ExitCode:
    """Build each image twice from nothing: 0 if both give the locked id, 1 if not."""
    from harness.engine import images
    from harness.engine.connect import connect
    from trialbox import bundling, places

    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        made = images.verify(
            engine.api, _wanted(options.names), cache=cache, images_dir=where, report=_note, builder=options.builder
        )
        agents = bundling.verify(engine, options.names, _note, options.builder)
    results: list[VerifyResult | VerifiedBundle] = [*made, *agents]
    if options.as_json:
        say({"images": [vars(one) for one in made], "bundles": [vars(one) for one in agents]})
    for one in [] if options.as_json else results:
        verdict = "same id twice" if one.same else f"NOT REPRODUCED: then {one.second}"
        line(f"{one.name} {one.first}: {verdict}" + ("" if one.matches_lock else "; not the id of the lock"))
    return ExitCode.DONE if all(one.same and one.matches_lock for one in results) else ExitCode.NO


def list_the_images(options: Options) -> ExitCode:
    """List the images: their ids, and whether the engine has them."""
    from harness.engine.connect import connect
    from harness.engine.images import list_images
    from harness.errors import InfraError
    from trialbox import bundling, places

    where = places.data_folder("images")
    try:
        with connect(start=False, notify=_note) as engine:
            rows = list_images(engine.api, images_dir=where, programs=_programs())
    except InfraError as error:
        _note(f"whether an engine has them is not known: {error}")
        rows = list_images(None, images_dir=where, programs=_programs())
    agents = bundling.listed()
    if options.as_json:
        folders = [{**vars(one), "path": str(one.path) if one.path else None} for one in agents]
        say({"images": [vars(one) for one in rows], "bundles": folders})
        return ExitCode.DONE
    for one in rows:
        line(f"{one.name} {one.id or 'not locked'}" + ("" if one.handle is None else "  in the engine"))
    for bundle in agents:
        line(f"{bundle.name} {bundle.id or 'not locked'}" + ("" if bundle.path is None else "  on this host"))
    return ExitCode.DONE


def _wanted(wanted: list[str]) -> Sequence[str | Program]:
    """The images named, or all: first those with a folder, then the programs that stand on them."""
    from harness.engine.images.recipe import names
    from trialbox import places

    programs = _programs()
    if not wanted:
        return (*names(places.data_folder("images")), *programs)
    known = {program.image: program for program in reversed(programs)}
    return [known.get(name, name) for name in wanted if name.partition("/")[0] != "agents"]


def _programs() -> tuple[Program, ...]:
    from harness.suites.parity import find_programs
    from trialbox import places

    return tuple(find_programs(places.data_folder("tasks")))


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

"""``trialbox images``: build, verify and list the container images."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.errors import ExitCode
from trialbox.guard import Json, guarded, line, say

app = typer.Typer(help="The container images, built from their locks.", no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[list[str] | None, typer.Argument(metavar="[IMAGE]...", help="Image names; all by default.")]
Relock = Annotated[bool, typer.Option("--relock", help="Write new locks from what the mirrors have now.")]
Builder = Annotated[str | None, typer.Option(help="Build inside this Debian-family image of the engine.")]


def build_images(
    names: Names = None, relock: Relock = False, builder: Builder = None, as_json: Json = False
) -> ExitCode:
    """Have the images in the engine, building what is missing."""
    from harness.engine import images
    from harness.engine.connect import connect
    from harness.records import to_value
    from trialbox import places

    make = images.relock if relock else images.ensure
    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        built = [
            make(engine.api, name, cache=cache, images_dir=where, report=_note, builder=builder)
            for name in _wanted(names)
        ]
    rows = [{**to_value(one.ref), "handle": one.handle, "size": one.size} for one in built]
    if as_json:
        say({"images": rows})
    for row in [] if as_json else rows:
        line(f"{row['name']} {row['id']}" + (" IMAGE DRIFT" if row["drift"] else ""))
    return ExitCode.DONE


def verify_images(names: Names = None, builder: Builder = None, as_json: Json = False) -> ExitCode:
    """Build each image twice from nothing: 0 if both give the locked id, 1 if not."""
    from harness.engine import images
    from harness.engine.connect import connect
    from trialbox import places

    where, cache = places.data_folder("images"), places.image_cache()
    with connect(notify=_note) as engine:
        results = images.verify(
            engine.api, _wanted(names), cache=cache, images_dir=where, report=_note, builder=builder
        )
    if as_json:
        say({"images": [vars(one) for one in results]})
    for one in [] if as_json else results:
        verdict = "same id twice" if one.same else f"NOT REPRODUCED: then {one.second}"
        line(f"{one.name} {one.first}: {verdict}" + ("" if one.matches_lock else "; not the id of the lock"))
    return ExitCode.DONE if all(one.same and one.matches_lock for one in results) else ExitCode.NO


def list_the_images(as_json: Json = False) -> ExitCode:
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
    if as_json:
        say({"images": [vars(one) for one in rows]})
    for one in [] if as_json else rows:
        line(f"{one.name} {one.id or 'not locked'}" + ("" if one.handle is None else "  in the engine"))
    return ExitCode.DONE


def _wanted(names: list[str] | None) -> list[str]:
    from harness.engine.images import list_images
    from trialbox import places

    return names or [one.name for one in list_images(None, images_dir=places.data_folder("images"))]


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")


app.command("build")(guarded(build_images))
app.command("verify")(guarded(verify_images))
app.command("list")(guarded(list_the_images))

"""``trialbox gc``: remove what no run or card needs."""

from __future__ import annotations

from harness.counted import counted
from harness.errors import ExitCode
from trialbox.arguments import Command, Options
from trialbox.guard import line, say


def gc(options: Options) -> ExitCode:
    """Remove what no run or card needs: stray blobs, half-written files, caches, old images, containers."""
    from harness.suites.parity import find_programs
    from trialbox import places
    from trialbox.cleaning import clean

    programs = tuple(find_programs(places.data_folder("tasks")))
    freed = clean(places.state(), places.image_cache(), places.data_folder("images"), programs)
    if options.as_json:
        say(vars(freed))
        return ExitCode.DONE
    line(
        f"{counted(freed.blobs, 'blob')}, {counted(freed.files, 'half-written file')} and"
        f" {counted(freed.cached, 'cached result')}: {counted(freed.bytes, 'byte')}"
    )
    line(f"{counted(freed.images, 'superseded file')} of the image cache: {counted(freed.image_bytes, 'byte')}")
    engine = "no engine answers" if freed.engine_objects is None else freed.engine_objects
    line(f"containers and volumes left by killed runs: {engine}")
    for problem in freed.kept:
        line(f"kept: {problem}")
    return ExitCode.DONE


COMMAND = Command("gc", gc, Options)

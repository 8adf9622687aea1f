"""Another date for a grading: the library that shows it, and the conditions that differ from the usual ones.

The library (libfaketime) comes out of an image built from a lock of its own, and is bound read-only into the one
container. It leaves the monotonic clock alone, by which time limits are kept.
"""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from harness.engine.client import Engine, engine_errors
from harness.engine.images import BuiltImage
from harness.engine.spec import BindMount
from harness.errors import InfraError
from harness.files import atomic_write
from harness.oracles.conditions import ENVIRONMENT, USUAL, Conditions

IMAGE = "clock"
"""The image that holds the library."""

_FOLDER = "/usr/lib/x86_64-linux-gnu/faketime"
_LIBRARY = "libfaketime.so.1"
_INSIDE = f"/opt/{_LIBRARY}"


@dataclass(frozen=True)
class Variation:
    """A grading under other conditions: how it differs in words, and how many cores it gets."""

    about: str
    conditions: Conditions
    cores: int


def library(engine: Engine, image: BuiltImage, cache: Path) -> Path:
    """The library as a file of this host, taken out of *image* once.

    Raises:
        InfraError: it is not in the image, or the engine or the disk failed.
    """
    kept = cache / "clock" / image.ref.id.removeprefix("sha256:") / _LIBRARY
    if not kept.is_file():
        atomic_write(kept, _taken(engine, image.handle))
    return kept


def _taken(engine: Engine, handle: str) -> bytes:
    with engine_errors("clock"):
        container = engine.api.create_container(
            handle, command=["true"], network_disabled=True, labels={"trialbox": "1"}
        )
        try:
            chunks, _ = engine.api.get_archive(container["Id"], f"{_FOLDER}/{_LIBRARY}")
            packed = b"".join(chunks)
        finally:
            engine.api.remove_container(container["Id"], force=True, v=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                return content.read()
    raise InfraError("clock", f"image {IMAGE} holds no {_LIBRARY}", "run `trialbox images build --again clock`")


def variations(found: Path, cores: int, host_cores: int) -> tuple[Variation, ...]:
    """The gradings besides the usual one: other hash seeds, dates, times of day, zones, and numbers of cores.

    Args:
        found: the library.
        cores: what the task's limits give.
        host_cores: what the engine has.
    """
    return (
        _variation(found, 4242, "2031-07-19 23:58:30", "FAR-13:45", min(cores + 1, host_cores)),
        _variation(found, 77, "2004-02-29 04:05:06", "WEST+11", max(1, cores - 1)),
    )


def closed() -> Conditions:
    """The usual surroundings, but that a call can open nothing and start nothing."""
    return Conditions(USUAL.env, closed=True)


def _variation(found: Path, seed: int, moment: str, zone: str, cores: int) -> Variation:
    env = {
        **ENVIRONMENT,
        "PYTHONHASHSEED": str(seed),
        "TZ": zone,
        "LD_PRELOAD": _INSIDE,
        "FAKETIME": f"@{moment}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
    }
    about = f"hash seed {seed}, {moment}, zone {zone}, {cores} core{'s' if cores > 1 else ''}"
    return Variation(about, Conditions(env, (BindMount(source=str(found), target=_INSIDE),)), cores)

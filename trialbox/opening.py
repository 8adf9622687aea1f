"""What every command that runs containers opens first: the state folder, the engine, the images."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NoReturn

from harness.energy.hostlock import lock_file, measuring
from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import BuiltImage, list_images
from harness.engine.images import ensure as ensure_image
from harness.engine.owned import reap
from harness.ledger import Ledger
from harness.progress import Progress
from harness.solvers.manifest import Solver
from harness.state import State
from harness.suites.foreign.environment import pinned, pins_of
from harness.suites.hashing import ScoreBasis
from harness.suites.task import Suite
from trialbox import places

OWN_IMAGES = ("base", "scanner")
_OPEN_FILES = 65_536
_PLATFORMS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@contextmanager
def prepared(state: State) -> Iterator[Ledger]:
    """The state folder, this process's alone."""
    with state.locked():
        state.prepare()
        with Ledger(state.ledger) as ledger:
            yield ledger


@contextmanager
def opened(state: State, progress: Progress, *, alone: bool = False) -> Iterator[Engine]:
    """An engine in which nothing of this state folder's is left over, before and after.

    Raises:
        GateError: a certified run measures on this host, or *alone* is asked for and some run goes on.
    """
    with _terminable(), measuring(lock_file(os.environ), alone=alone), connect(notify=progress.note) as engine:
        _open_many()  # not before: a daemon that we start hands its limits on to the containers
        left = reap(engine, state.owner)
        if left:
            progress.note(f"removed containers and volumes that a killed run had left: {left}")
        yield engine


def _open_many() -> None:
    """Let this process have as many open files as it may: each attempt at a time takes a few sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS promises more than its kernel gives; then it stays as it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM and a closed terminal end a run as Ctrl-C does: cleanly, and resumable.

    Once only: what comes after the first is ignored until the process has ended, so that nobody who presses Ctrl-C
    again is left with containers that run on.
    """
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.getsignal(one) for one in stops}
    interrupted = False

    def interrupt(*_: object) -> NoReturn:
        nonlocal interrupted
        interrupted = True
        for one in stops:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    for one in stops:
        # What our caller ignores stays ignored: `nohup`, or a job that a shell runs in the background.
        if before[one] is not signal.SIG_IGN:
            signal.signal(one, interrupt)
    try:
        yield
    finally:
        if not interrupted:
            for one in stops:
                signal.signal(one, before[one])


def images_of(
    engine: Engine, suites: Iterable[Suite], progress: Progress, more: Iterable[str] = ()
) -> dict[str, BuiltImage]:
    """Our own images, all of the suites' (since a suite's identity covers them) and *more*, in the engine."""
    suites = list(suites)
    names = [*OWN_IMAGES, *more, *(name for suite in suites for task in suite.tasks for name in task.images)]
    programs = {program.image: program for suite in suites for program in suite.programs}
    pins = pins_of(suites)
    where = places.data_folder("images")
    return {
        name: pinned(engine, name, pins[name])
        if name in pins
        else ensure_image(
            engine.api, programs.get(name, name), cache=places.image_cache(), images_dir=where, report=progress.note
        )
        for name in dict.fromkeys(names)
    }


def bundled(solvers: Iterable[Solver], engine: Engine, progress: Progress) -> tuple[Solver, ...]:
    """The solvers with their agents' bundles, which are built where they are not there yet."""
    listed = tuple(solvers)
    if all(one.manifest.recipe is None for one in listed):
        return listed
    from harness.bundles import Bundle, ensure, equip

    where = places.data_folder("images")

    def have(name: str) -> Bundle:
        return ensure(engine.api, name, cache=places.image_cache(), images_dir=where, report=progress.note)

    return equip(listed, have)


def score_basis(images: Mapping[str, BuiltImage], engine: Engine) -> ScoreBasis:
    """What besides the tasks can move their scores, on this engine."""
    return ScoreBasis(
        image_locks={name: image.ref.lock for name, image in images.items()},
        platform=platform_of(engine.info.architecture),
    )


def platform_of(machine: str) -> str:
    """The platform of a machine, as score hashes have it."""
    return f"linux/{_PLATFORMS.get(machine, machine)}"


def locked_basis(suite: Suite) -> ScoreBasis:
    """The same from the images' locks alone, without an engine: for the platform that the locks are for."""
    images = list_images(None, images_dir=places.data_folder("images"), programs=suite.programs)
    return ScoreBasis(image_locks={image.name: image.lock for image in images})

"""``trialbox images`` for agents: ``agents/NAME`` is one bundle, ``agents`` all, ``agents/parts`` what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness import bundles
from harness.bundles import Bundle, ListedBundle, VerifiedBundle
from harness.bundles.recipe import FOLDER, PARTS, names
from harness.engine.client import Engine
from harness.errors import UserError
from trialbox import places

Report = Callable[[str], None]


def is_agent(name: str) -> bool:
    """Whether a name given to ``images`` is of a bundle, or of all."""
    return name.partition("/")[0] == FOLDER


def wanted(given: Sequence[str]) -> tuple[str, ...]:
    """The bundles that such names stand for, in order, each once."""
    known = names(places.data_folder("images"))
    found: list[str] = []
    for name in filter(is_agent, given):
        one = name.partition("/")[2]
        found += [one] if one else known
    return tuple(dict.fromkeys(found))


def build(
    engine: Engine, given: Sequence[str], report: Report, builder: str | None, *, again: bool, relock: bool
) -> list[Bundle]:
    """Have bundles on this host, or build or lock them anew.

    Raises:
        UserError: there is no such bundle, or the shared parts are asked for without a new lock.
    """
    where, cache = places.data_folder("images"), places.image_cache()
    make = bundles.relock if relock else bundles.build if again else bundles.ensure
    built = []
    for name in wanted(given):
        if name != PARTS:
            built.append(make(engine.api, name, cache=cache, images_dir=where, report=report, builder=builder))
        elif relock:
            bundles.relock_parts(engine.api, cache=cache, images_dir=where, report=report, builder=builder)
        else:
            raise UserError(f"{FOLDER}/{PARTS}", "is no bundle of its own", "it can be locked anew with --relock")
    return built


def verify(engine: Engine, given: Sequence[str], report: Report, builder: str | None) -> list[VerifiedBundle]:
    """Build bundles twice from nothing."""
    where, cache = places.data_folder("images"), places.image_cache()
    return bundles.verify(engine.api, wanted(given), cache=cache, images_dir=where, report=report, builder=builder)


def listed() -> list[ListedBundle]:
    """All bundles."""
    return bundles.list_bundles(places.image_cache(), places.data_folder("images"))

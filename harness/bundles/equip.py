"""Solvers with their bundles: what stands between a chosen solver and one that can be planned and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.bundles.shelf import Bundle
from harness.solvers.manifest import Solver


def equip(solvers: Iterable[Solver], have: Callable[[str], Bundle]) -> tuple[Solver, ...]:
    """Give each solver whose manifest names a recipe that recipe's bundle.

    Args:
        solvers: as they were chosen; those with a folder of their own, or none, stay as they are.
        have: makes sure of a bundle by its name, such as :func:`harness.bundles.ensure`; asked once for each.

    Raises:
        whatever *have* raises.
    """
    found: dict[str, Bundle] = {}
    equipped = []
    for solver in solvers:
        name = solver.manifest.recipe
        update: dict[str, Any] = {}
        if name is not None:
            bundle = found[name] if name in found else found.setdefault(name, have(name))
            update = {"bundle": bundle.path, "bundle_digest": bundle.digest}
        equipped.append(solver.model_copy(update=update))
    return tuple(equipped)

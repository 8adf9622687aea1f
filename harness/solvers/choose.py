"""From what the user typed after ``--solver`` to solvers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

from harness.errors import UserError
from harness.solvers import Driver
from harness.solvers.builtin import candidate_of, noop, reference, wrong
from harness.solvers.command import command
from harness.solvers.manifest import DriverKind, Manifest, Solver, complete, load_manifest
from harness.solvers.service import service
from harness.suites.task import Task

_BUILTIN = {kind.value: kind for kind in DriverKind}
_OPTIONS = {"candidate", "model", "effort", "name"}


def choose(texts: Iterable[str]) -> tuple[Solver, ...]:
    """Parse solver texts.

    Each text is a comma-separated list of ``reference``, ``noop``, ``wrong[:candidate=NAME]`` and manifest files
    (``path/to/solver.toml``), any with ``:key=value,key=value`` options; or one ``command:PROGRAM ARG...``, which takes
    the rest of the text and is split as a shell would.

    Raises:
        UserError: an unknown solver or option, a bad manifest, or one name twice.
    """
    solvers = [solver for text in texts for solver in _parse(text)]
    if not solvers:
        raise UserError("--solver", "names no solver", "try --solver reference,noop,wrong")
    names = [solver.name for solver in solvers]
    for name in names:
        if names.count(name) > 1:
            raise UserError("--solver", f"{name!r} is named twice", "give one of them another name with :name=NAME")
    return tuple(solvers)


def check(solvers: Iterable[Solver], tasks: Iterable[Task]) -> None:
    """Refuse, before a run, a solver that some task has nothing for.

    Raises:
        UserError: the first task without the wrong candidate that a solver names, or without any.
    """
    wrongs = [solver for solver in solvers if solver.manifest.driver is DriverKind.WRONG]
    for task in tasks:
        for solver in wrongs:
            candidate_of(task, solver.manifest.candidate)


def driver_of(solver: Solver) -> Driver:
    """The driver that runs a solver."""
    match solver.manifest.driver:
        case DriverKind.REFERENCE:
            return reference
        case DriverKind.NOOP:
            return noop
        case DriverKind.WRONG:
            return wrong(solver.manifest.candidate)
        case DriverKind.COMMAND:
            return command(solver.manifest)
        case DriverKind.SERVICE:
            return service(solver.manifest)
        case _:
            assert_never(solver.manifest.driver)


def _parse(text: str) -> list[Solver]:
    if text.startswith(("command:", "service:")):
        kind, _, program = text.partition(":")
        try:
            argv = tuple(shlex.split(program))
        except ValueError as error:
            raise UserError(
                "--solver", f"{program!r} can't be split into words ({error})", "check its quotes"
            ) from error
        return [complete(Manifest(name=kind, driver=DriverKind(kind), argv=argv), Path("--solver"))]
    solvers = []
    for name, options in _items(text):
        unknown = sorted(options.keys() - _OPTIONS)
        if unknown:
            raise UserError(
                "--solver", f"{name} has no option {unknown[0]!r}", f"options are {', '.join(sorted(_OPTIONS))}"
            )
        solvers.append(_solver(name, options))
    return solvers


def _items(text: str) -> list[tuple[str, dict[str, str]]]:
    """Split ``a,b:k=v,k=v,c``: a piece with ``=`` and no colon before it goes on with the solver to its left."""
    items: list[tuple[str, dict[str, str]]] = []
    for piece in filter(None, (part.strip() for part in text.split(","))):
        name, colon, rest = piece.partition(":")
        if "=" in name and items:
            key, _, value = piece.partition("=")
            items[-1][1][key] = value
            continue
        key, _, value = rest.partition("=")
        items.append((name, {key: value} if colon else {}))
    return items


def _solver(name: str, options: dict[str, str]) -> Solver:
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise UserError(name, "there is no such manifest file", "check the path")
        loaded = load_manifest(path)
        return loaded.model_copy(update={"manifest": loaded.manifest.model_copy(update=options)})
    kind = _BUILTIN.get(name)
    if kind is None or kind in {DriverKind.COMMAND, DriverKind.SERVICE}:
        known = ", ".join(sorted(kind.value for kind in DriverKind if kind.scripted))
        raise UserError(
            "--solver",
            f"there is no solver {name!r}",
            f"known: {known}, 'command:PROGRAM ARG...', or a manifest's path",
        )
    return complete(Manifest.model_validate({"driver": kind, "name": name, **options}), Path("--solver"))

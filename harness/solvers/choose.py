"""From what the user typed after ``--solver`` to solvers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import assert_never

from pydantic import TypeAdapter

from harness.errors import UserError
from harness.solvers import Driver
from harness.solvers.agent import EFFORT_PATTERN, MODEL_PATTERN
from harness.solvers.builtin import candidate_of, noop, reference, scripted
from harness.solvers.cli import cli
from harness.solvers.command import command
from harness.solvers.manifest import DriverKind, Manifest, Solver, complete, load_manifest
from harness.solvers.service import service
from harness.solvers.worker import EFFORTS, worker
from harness.suites.formats.common import CandidateKind
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.reply import ReplyTask
from harness.suites.parse import parse
from harness.suites.task import Task

_BUILTIN = {kind.value: kind for kind in DriverKind}
_SHOWS = {
    DriverKind.WRONG: CandidateKind.WRONG,
    DriverKind.PARTIAL: CandidateKind.PARTIAL,
    DriverKind.BREAKER: CandidateKind.BREAKER,
}
_OPTIONS = {"candidate", "model", "effort", "name"}
_ASKING = {"api", "provider"}
_UNSET = "unknown"


def choose(texts: Iterable[str], agents: Path | None = None) -> tuple[Solver, ...]:
    """Parse solver texts.

    Each text is a comma-separated list of ``reference``, ``noop``, ``wrong[:candidate=NAME]``, ``partial`` and
    ``breaker`` alike, ``worker``, agents by the name of their folder in *agents*, and manifest files
    (``path/to/solver.toml``), any with ``:key=value,key=value`` options; or one ``command:PROGRAM ARG...``, which takes
    the rest of the text and is split as a shell would.

    The bundles of agents are not there yet (:func:`harness.bundles.equip`).

    Raises:
        UserError: an unknown solver or option, a bad manifest, no model or effort that it takes, or one name twice.
    """
    solvers = [solver for text in texts for solver in _parse(text, agents)]
    if not solvers:
        raise UserError("--solver", "names no solver", "try --solver reference,noop,wrong")
    names = [solver.name for solver in solvers]
    for name in names:
        if names.count(name) > 1:
            raise UserError("--solver", f"{name!r} is named twice", "give one of them another name with :name=NAME")
    return tuple(solvers)


def check(solvers: Collection[Solver], tasks: Iterable[Task]) -> None:
    """Refuse, before a run, a solver that some task has nothing for.

    Raises:
        UserError: the first task without the candidate that a solver names, or without any of its kind; or that is
            answered in its workspace, where a solver only replies.
    """
    drivers = [solver.manifest.driver for solver in solvers]
    replying = [solver.name for solver in solvers if solver.manifest.driver is DriverKind.WORKER]
    manifests = [solver.manifest for solver in solvers if solver.manifest.driver in _SHOWS]
    for task in tasks:
        if DriverKind.REFERENCE in drivers and isinstance(task.spec, ForeignTask) and not task.spec.has_reference:
            raise UserError(
                f"task {task.id}", "came without a known-good fix", "leave the task or the solver `reference` out"
            )
        if replying and not isinstance(task.spec, ReplyTask):
            problem = f"is answered in its workspace, and solver {replying[0]} only replies"
            raise UserError(f"task {task.id}", problem, "take function and patch tasks, or an agent for a solver")
        for manifest in manifests:
            candidate_of(task, _SHOWS[manifest.driver], manifest.candidate)


def driver_of(solver: Solver) -> Driver:
    """The driver that runs a solver."""
    match solver.manifest.driver:
        case DriverKind.REFERENCE:
            return reference
        case DriverKind.NOOP:
            return noop
        case DriverKind.WRONG | DriverKind.PARTIAL | DriverKind.BREAKER:
            return scripted(_SHOWS[solver.manifest.driver], solver.manifest.candidate)
        case DriverKind.COMMAND:
            return command(solver.manifest)
        case DriverKind.SERVICE:
            return service(solver.manifest)
        case DriverKind.CLI:
            return cli(solver.manifest)
        case DriverKind.WORKER:
            return worker(solver.manifest)
        case _:
            assert_never(solver.manifest.driver)


def _parse(text: str, agents: Path | None) -> list[Solver]:
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
        solvers.append(_finished(_solver(name, agents), name, options))
    return solvers


def _items(text: str) -> list[tuple[str, dict[str, str]]]:
    """Split ``a,b:k=v,k=v,c``: a piece with ``=`` and no colon before it goes on with the solver to its left."""
    items: list[tuple[str, dict[str, str]]] = []
    for piece in filter(None, (part.strip() for part in text.split(","))):
        name, colon, rest = piece.partition(":")
        if "=" in name and items:
            key, _, value = piece.partition("=")
            if key in items[-1][1]:
                raise UserError("--solver", f"{items[-1][0]} has {key!r} twice", "give it once")
            items[-1][1][key] = value
            continue
        key, _, value = rest.partition("=")
        items.append((name, {key: value} if colon else {}))
    return items


def _solver(name: str, agents: Path | None) -> Solver:
    """The solver of that name, before its options."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise UserError(name, "there is no such manifest file", "check the path")
        return load_manifest(path)
    kind = _BUILTIN.get(name)
    if kind is not None and kind not in {DriverKind.COMMAND, DriverKind.SERVICE, DriverKind.CLI}:
        return complete(Manifest.model_validate({"driver": kind, "name": name}), Path("--solver"))
    known = agent_names(agents)
    if agents is not None and name in known:
        return load_manifest(agents / name / "solver.toml")
    builtin = sorted(kind.value for kind in DriverKind if kind.scripted)
    raise UserError(
        "--solver",
        f"there is no solver {name!r}",
        f"known: {', '.join((*builtin, 'worker', *known))}, 'command:PROGRAM ARG...', or a manifest's path",
    )


def agent_names(agents: Path | None) -> tuple[str, ...]:
    """The agents that have a manifest in *agents*."""
    return tuple(sorted(path.parent.name for path in agents.glob("*/solver.toml"))) if agents is not None else ()


def _finished(solver: Solver, typed: str, options: dict[str, str]) -> Solver:
    """A solver with its options, and with all that it then needs."""
    asks = solver.manifest.driver.asks_model
    known = _OPTIONS | _ASKING if asks else _OPTIONS
    unknown = sorted(options.keys() - known)
    if unknown:
        raise UserError("--solver", f"{typed} has no option {unknown[0]!r}", f"options are {', '.join(sorted(known))}")
    manifest = solver.manifest
    if asks:
        options = {"model": manifest.default_model or _UNSET, **_given(manifest), **options}
        _check_asking(manifest, typed, options["model"], options.get("effort", _UNSET))
    value = manifest.model_dump(by_alias=True) | options
    checked = parse(TypeAdapter(Manifest), value, f"--solver {typed}")
    return solver.model_copy(update={"manifest": checked})


def _given(manifest: Manifest) -> dict[str, str]:
    """What the manifest itself says of model and effort."""
    return {name: text for name in ("model", "effort") if (text := getattr(manifest, name)) != _UNSET}


def _check_asking(manifest: Manifest, typed: str, model: str, effort: str) -> None:
    where = f"--solver {typed}"
    if model == _UNSET:
        raise UserError(where, "needs a model", f"name it: {typed}:model=MODEL")
    if re.fullmatch(MODEL_PATTERN, model) is None:
        raise UserError(where, f"{model!r} is no model's name", "write it as its provider does")
    if effort == _UNSET:
        return
    takes = manifest.efforts if manifest.driver is DriverKind.CLI else (manifest.efforts or EFFORTS)
    if effort not in takes or re.fullmatch(EFFORT_PATTERN, effort) is None:
        remedy = f"it takes {', '.join(takes)}" if takes else "leave it out: this agent has no such setting"
        raise UserError(where, f"does not take effort {effort!r}", remedy)

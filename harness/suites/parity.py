"""The folder ``binary/`` of a parity task: read, and held against its ``task.toml``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter

from harness.errors import UserError
from harness.program import Program
from harness.suites.formats.parity import BINARY, IMAGE_FILE, SWEEP_FILE, ParityTask
from harness.suites.parse import parse, read_toml
from harness.suites.tree import Tree, read_tree

_SWITCH = re.compile(r"\bAS_SPEC_[A-Z0-9_]+\b")
_TELLTALE = re.compile(r"\b(?:assert|__FILE__|__func__|__FUNCTION__|__LINE__|__DATE__|__TIME__|__TIMESTAMP__)\b")


_TASK: TypeAdapter[ParityTask] = TypeAdapter(ParityTask)


def find_programs(tasks_dir: Path) -> Iterator[Program]:
    """The programs of every parity task under *tasks_dir*, kept versions of a suite last.

    Nothing else of a task is read. One that is broken has none: what is wrong with it is said where it is loaded.
    """
    for place in sorted(tasks_dir.glob(f"*/*/{BINARY}/{SWEEP_FILE}")):
        folder = place.parent.parent
        try:
            raw = read_toml(folder / "task.toml")
            if raw.get("format") == "parity":
                yield read_binary(folder, parse(_TASK, raw, str(folder / "task.toml")))[1]
        except UserError:
            continue


def read_binary(folder: Path, spec: ParityTask) -> tuple[Tree, Program]:
    """The source and the sessions of the task in *folder*, and what is compiled from them.

    Raises:
        UserError: a file is missing, too many or wrong in itself.
    """
    place = folder / BINARY
    tree = read_tree(place)
    tree = Tree(entry for path, entry in tree.items() if path != IMAGE_FILE)
    source = f"{spec.binary}.c"
    for path in sorted({source, SWEEP_FILE} - tree.keys()):
        raise UserError(str(place / path), "is missing", "docs/suites.md says what it holds")
    for path in sorted(tree.keys() - {source, SWEEP_FILE}):
        raise UserError(str(place / path), f"is neither {source} nor {SWEEP_FILE}", "remove it")
    canary = spec.canary.exposure or ""
    for path, entry in tree.items():
        if canary.encode() not in entry.data:
            raise UserError(str(place / path), "does not hold the exposure canary", "put it into a comment")
    _check_source(str(place / source), tree[source].data.decode("utf-8", "replace"), spec)
    _check_sweep(str(place / SWEEP_FILE), tree[SWEEP_FILE].data)
    return tree, Program(image=f"parity-{folder.name}", name=spec.binary, source=place / source)


def _check_source(where: str, text: str, spec: ParityTask) -> None:
    """Each departure has its switch and each switch its departure; nothing in the text puts itself into the program."""
    wanted, found = {one.switch for one in spec.departure}, set(_SWITCH.findall(text))
    for switch in sorted(wanted - found):
        raise UserError(where, f"has no switch {switch}", "put the spec's behaviour of that departure behind it")
    for switch in sorted(found - wanted):
        raise UserError(where, f"{switch} is the switch of no departure", "correct one of them")
    if telltale := _TELLTALE.search(text):
        raise UserError(where, f"{telltale[0]} would put a piece of the source into the program", "do without it")


def _check_sweep(where: str, data: bytes) -> None:
    try:
        module = ast.parse(data)
    except (SyntaxError, ValueError) as error:
        raise UserError(where, f"is not Python: {error}", "correct it") from error
    if not any(isinstance(node, ast.FunctionDef) and node.name == "session" for node in module.body):
        raise UserError(where, "defines no function session", "write `def session(rng: random.Random) -> str`")

"""What a worker does for ``cases`` and ``operations``: the only place where candidate code is imported."""

from __future__ import annotations

import importlib
import json
import resource
import sys
from typing import Any

from harness.oracles.inside.processes import write_all
from harness.oracles.inside.values import Encoder, Json, UnserialisableError, decode, names

_LAZY = ("_strptime", "encodings.ascii", "encodings.latin_1", "encodings.utf_16", "encodings.utf_32")
"""What the standard library imports in the middle of a call."""


def outcome(call: Any, given: Json) -> Json:
    """Call it with freshly decoded arguments and say what came of it."""
    args = [decode(item) for item in given["args"]]
    kwargs = {key: decode(item) for key, item in given["kwargs"].items()}
    try:
        value = call(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is an observation
        return {"raised": names(error)}
    try:
        return {"returned": Encoder().encode(value)}
    except UnserialisableError as why:
        return {"unserialisable": str(why)}


def scenario(made: Any, item: Json) -> Json:
    """A fresh instance and the outcome of each call on it."""
    init = item["init"]
    try:
        instance = made(*map(decode, init["args"]), **{key: decode(value) for key, value in init["kwargs"].items()})
    except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is an observation
        return {"init": names(error)}
    steps = []
    for step in item["steps"]:
        try:
            method = getattr(instance, step["call"])
        except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is an observation
            steps.append({"raised": names(error)})
            continue
        steps.append(outcome(method, step))
    return {"steps": steps}


def close_everything() -> None:
    """Let this process open nothing and start nothing from here on."""
    for name in _LAZY:
        importlib.import_module(name)
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        resource.setrlimit(what, (0, 0))


def work(group: dict[str, Any], first: int, workspace: str, answers: int) -> None:
    """Import the target and answer for every item from *first* on, in order."""
    place = next((n for n, path in enumerate(sys.path) if "-packages" in path), len(sys.path))
    sys.path.insert(place, workspace)  # after the standard library, before what the image has installed
    module, _, name = group["target"].partition(":")
    failed: list[str] | None = None
    target: Any = None
    try:
        target = getattr(importlib.import_module(module), name)
    except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is an observation
        failed = names(error)
    if group["closed"]:
        close_everything()
    answer = outcome if group["oracle"] == "cases" else scenario
    for index in range(first, len(group["items"])):
        said = {"import": failed} if failed is not None else answer(target, group["items"][index])
        line = json.dumps({"i": index, **said}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        write_all(answers, line.encode() + b"\n")

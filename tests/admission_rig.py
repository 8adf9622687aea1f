"""A tiny suite that may be admitted, for tests that then break one thing, and the bench to check it on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from harness.attempt import Tools
from harness.cores import Cores
from harness.energy import EnergyRequest, MeterChoice, open_session
from harness.engine.client import Engine
from harness.engine.images import BuiltImage, ensure
from harness.ledger import Ledger
from harness.records import ExecutionMode
from harness.store import LocalStore
from harness.suites.admission import clock
from harness.suites.admission.bench import Bench
from harness.suites.admission.check import Subject, check_task
from harness.suites.admission.frontier import frontier
from harness.suites.admission.records import Admission
from harness.suites.admission.workers import Workers
from harness.suites.hashing import ScoreBasis, task_ref
from harness.suites.load import load_suite
from harness.suites.task import Suite
from tests.conftest import ROOT, image_cache
from tests.formats_rig import HEAD
from tests.suites_rig import EXPOSURE, write

PROMPT = """Write `spans.py` with a function `spans(values, least=2)`.

It gives the stretches of equal neighbours in a list, each as a list of its first place and the place after its last,
in order. A stretch of fewer than `least` values is left out. A `least` below 1 raises a ValueError, whatever the list.
"""

REFERENCE = """def spans(values, least=2):
    if least < 1:
        raise ValueError("least is below 1")
    found = []
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[start]:
            if place - start >= least:
                found.append([start, place])
            start = place
    return found
"""
IGNORES_LEAST = REFERENCE.replace("place - start >= least", "place > start + 1")
LOSES_THE_END = REFERENCE.replace("len(values) + 1", "len(values)")

TASK_TOML = f"""
schema = 1
format = "function"
title = "Stretches of equal values"
target = "spans.py"
export = "spans"
{HEAD}
[[wrong]]
name = "ignores-least"
kind = "partial"
why = "Always leaves out stretches of one."

[[wrong]]
name = "loses-the-end"
why = "The last stretch is missing."

[[equivalent]]
mutant = "spans.py:6:constant:4e02e825"
change = "for place in range(0, len(values) + 1):"
reason = "At place 0 nothing has begun: no stretch can end there, and start stays 0."

[[checklist]]
behaviour = "stretches by their ends"
prompt = "each as a list of its first place and the place after its last"
groups = ["plain"]
wrong = ["loses-the-end"]

[[checklist]]
behaviour = "the least length, and its own bound"
prompt = "A `least` below 1 raises a ValueError"
groups = ["least"]
wrong = ["ignores-least", "loses-the-end"]

[[groups]]
name = "plain"
kind = "behaviour"
oracle = "cases"
file = "hidden/plain.json"

[[groups]]
name = "least"
kind = "behaviour"
oracle = "cases"
file = "hidden/least.json"
"""

SUITE_TOML = """
schema = 1
name = "little"
version = "1.0.0"
description = "For tests."
require_checklist = true
tasks = ["spans"]
"""

PLAIN = [
    {"args": [[]], "expect": []},
    {"args": [[1, 2, 3]], "expect": []},
    {"args": [[1, 1, 2, 2, 2]], "expect": [[0, 2], [2, 5]]},
    {"args": [["a", "a", "b", "a"]], "expect": [[0, 2]]},
    {"args": [[0, 1, 1]], "expect": [[1, 3]]},
]
LEAST = [
    {"args": [[4, 5, 5], 1], "expect": [[0, 1], [1, 3]]},
    {"args": [[5, 5, 6, 6, 6], 3], "expect": [[2, 5]]},
    {"args": [[], 0], "raises": "ValueError"},
    {"args": [[7], 1], "expect": [[0, 1]]},
    {"args": [[1], -1], "raises": "ValueError"},
]


def oracle(cases: list[dict[str, Any]]) -> str:
    """A cases file."""
    return json.dumps({"canary": EXPOSURE, "target": "spans:spans", "cases": cases})


def reply(code: str) -> str:
    """What a worker would answer."""
    return f"This should do.\n\n```python\n{code}```\n"


def write_little(folder: Path, **files: str) -> Path:
    """The suite ``little`` of one task; *files* (with ``__`` for ``/`` and ``.``) are laid over it."""
    write(
        folder,
        {
            "suite.toml": SUITE_TOML,
            "spans/task.toml": TASK_TOML,
            "spans/issue.md": PROMPT,
            "spans/hidden/plain.json": oracle(PLAIN),
            "spans/hidden/least.json": oracle(LEAST),
            "spans/reference/reply.md": reply(REFERENCE),
            "spans/wrong/ignores-least/reply.md": reply(IGNORES_LEAST),
            "spans/wrong/loses-the-end/reply.md": reply(LOSES_THE_END),
        },
    )
    return folder


@contextmanager
def bench(engine: Engine, images: Mapping[str, BuiltImage], folder: Path, owner: str) -> Iterator[Bench]:
    """A bench with a store and a ledger in *folder*."""
    cache = image_cache()
    image = ensure(engine.api, clock.IMAGE, cache=cache, images_dir=ROOT / "images", report=print)
    with (
        Ledger(folder / "ledger.db") as ledger,
        closing(open_session(EnergyRequest(choice=MeterChoice.OFF), folder / "idle")) as energy,
        Workers(engine, owner, engine.info.cpus) as workers,
    ):
        tools = Tools(
            engine=engine,
            store=LocalStore(folder / "blobs"),
            cache=ledger,
            images=images,
            energy=energy,
            cores=Cores(range(engine.info.cpus)),
            owner=owner,
        )
        yield Bench(tools, ExecutionMode.SEALED, clock.library(engine, image, cache), workers)


def examined(suite: Suite, bench: Bench) -> Admission:
    """The suite's first task, checked."""
    basis = ScoreBasis({name: image.ref.lock for name, image in bench.tools.images.items()})
    task = suite.tasks[0]
    return check_task(Subject(task, task_ref(suite, task, basis), suite, frontier([])), bench)


def loaded(folder: Path) -> Suite:
    """The suite."""
    return load_suite(folder)

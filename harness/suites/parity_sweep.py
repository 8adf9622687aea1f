"""Random sessions through a parity task's program and its replacements.

Three things are measured, all in sealed containers, the program and its replacements in different ones:

* the reference answers as the program does;
* ``before/`` answers as the program compiled to follow the spec in every departure does, so that the spec, the
  replacement and the list of departures are complete;
* how often each departure shows: in how many sessions the program and the program compiled to follow the spec in that
  one rule answer differently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.digest import loads
from harness.engine.client import LABEL, Engine
from harness.engine.images import BuiltImage
from harness.engine.images.compiler import COMPILER, compile_source
from harness.engine.images.recipe import Wanted
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.errors import InfraError, UserError
from harness.program import Program
from harness.records import Count, Record
from harness.suites.formats.parity import BINARY, SWEEP_FILE, ParityTask
from harness.suites.task import Task
from harness.suites.tree import EXECUTABLE, REGULAR, Entry, Tree
from harness.workspace import pack

SEED = "trialbox"
SWEEPS, SESSIONS = 200, 10_000
"""Sessions that a replacement answers, and sessions over which departures are counted."""

REPLACEMENT = "replacement.py"
_ONE_IN = 50
"""A deep departure shows in fewer than one in so many sessions, any other in no fewer."""
_EXAMPLES = 3
_PLACE = "/tmp/sweep"  # noqa: S108 - inside a container
_INSIDE = Path(__file__).with_name("inside")
_AS_SPEC = "ALL"
"""Beside the groups' names, which are lowercase."""
_TIMEOUT_S = 3600.0
_MAX_OUTPUT = 512 << 20


class Answer(Record):
    """What a program answered: its exit status (negative for a signal, None if it had to be ended) and output."""

    status: int | None
    output: str


class Difference(Record):
    """A session that two programs answer differently."""

    session: Count
    text: str
    program: Answer
    replacement: Answer


class Agreement(Record):
    """One replacement against one program."""

    sessions: Count
    differing: Count
    examples: tuple[Difference, ...]


class Reached(Record):
    """In how many sessions a departure showed."""

    group: str
    deep: bool
    sessions: Count


class ParityMeasure(Record):
    """What a sweep found; ``faults`` says what a parity task must not have."""

    seed: str
    reference: Agreement
    """Against the program."""
    base: Agreement
    """``before/`` against the program compiled as the spec."""
    sessions: Count
    departures: tuple[Reached, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """One line for each thing that is not as it should be."""
        found = [
            f"{name} differs from {other} in {one.differing} of {one.sessions} sessions, first in {first.session}"
            for name, other, one in (
                ("the reference", "the program", self.reference),
                ("before/", "the program compiled as the spec", self.base),
            )
            for first in one.examples[:1]
        ]
        for one in self.departures:
            rate = f"departure {one.group!r} shows in {one.sessions} of {self.sessions} sessions"
            if not one.sessions:
                found.append(f"{rate}; sweep.py never reaches it")
            elif one.deep is (one.sessions * _ONE_IN >= self.sessions):
                found.append(f"{rate}; {'a deep one' if one.deep else 'one that is not deep'} was announced")
        return tuple(found)


def images_for(task: Task) -> dict[str, Wanted]:
    """The images that :func:`measure` needs, by name, as :func:`harness.engine.images.ensure` takes them."""
    program = _program(task)
    return {task.image: task.image, program.image: program, COMPILER: COMPILER}


def measure(
    engine: Engine,
    task: Task,
    images: Mapping[str, BuiltImage],
    owner: str,
    *,
    seed: str = SEED,
    sweeps: int = SWEEPS,
    sessions: int = SESSIONS,
) -> ParityMeasure:
    """Sweep one parity task.

    Args:
        engine: where the containers run.
        task: the task; its ``binary/sweep.py`` draws the sessions.
        images: the built images of :func:`images_for`.
        owner: the label by which leftovers are found.
        seed: of the sessions; the same gives the same figures.
        sweeps: sessions for each of the two replacements.
        sessions: sessions over which departures are counted; at least 1.

    Raises:
        UserError: the source does not compile, or ``sweep.py`` fails.
        InfraError: a container failed.
    """
    program = _program(task)
    compiled = _variants(engine, task, images[COMPILER].handle)
    texts = _draw(engine, task, images[task.image].handle, owner, seed, max(sweeps, sessions))
    few, many = texts[:sweeps], texts[:sessions]
    variants = Tree(Entry(f"variants/{name}", EXECUTABLE, data) for name, data in compiled.items())
    with _open(engine, images[program.image].handle, owner, variants, {"few": few, "many": many}) as room:
        plain, as_spec = [program.path], [f"{_PLACE}/variants/{_AS_SPEC}"]
        truth, spec = _texts(room, plain), _texts(room, as_spec)
        digests = _replay(room, "many", "digests", plain)
        reached = tuple(
            Reached(group=one.group, deep=one.deep, sessions=_differing(digests, room, one.group))
            for one in _spec(task).departure
        )
    answers = [
        _replaced(engine, images[task.image].handle, owner, tree, few) for tree in (_reference(task), task.before)
    ]
    return ParityMeasure(
        seed=seed,
        reference=_agreement(few, truth, answers[0]),
        base=_agreement(few, spec, answers[1]),
        sessions=len(many),
        departures=reached,
    )


def _spec(task: Task) -> ParityTask:
    if not isinstance(task.spec, ParityTask):
        raise UserError(str(task.folder), "is no parity task", "only these have a program to sweep")
    return task.spec


def _program(task: Task) -> Program:
    if task.program is None:
        raise UserError(str(task.folder), "is no parity task", "only these have a program to sweep")
    return task.program


def _reference(task: Task) -> Tree:
    if task.reference.tree is None:
        raise UserError(str(task.folder / "reference"), "has no tree", "a parity task's reference is a folder")
    return task.reference.tree


def _variants(engine: Engine, task: Task, handle: str) -> dict[str, bytes]:
    """The program as the spec in one rule, for each rule, and in all. Unused functions are no mistake in these."""
    switches = {one.group: (f"-D{one.switch}",) for one in _spec(task).departure}
    everything = tuple(option for options in switches.values() for option in options)
    wanted = {name: ("-w", *options) for name, options in {**switches, _AS_SPEC: everything}.items()}
    return compile_source(engine.api, handle, _program(task), wanted, epoch=0, marks={LABEL: "1"})


def _draw(engine: Engine, task: Task, handle: str, owner: str, seed: str, count: int) -> list[str]:
    sweep = Entry("sweep.py", REGULAR, task.binary[SWEEP_FILE].data)
    with _open(engine, handle, owner, Tree([sweep, _program_file("draw.py")]), {}) as room:
        argv = ["python3", f"{_PLACE}/draw.py", f"{_PLACE}/sweep.py", seed, str(count)]
        drawn = room.run(argv, timeout_s=_TIMEOUT_S, max_output=_MAX_OUTPUT, workdir=_PLACE)
    if drawn.exit_status != 0 or drawn.cut:
        last = drawn.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it does not end"]
        raise UserError(str(task.folder / BINARY / SWEEP_FILE), f"draws no sessions: {last[0][:300]}", "correct it")
    texts: list[str] = loads(drawn.stdout)
    return texts


def _program_file(name: str) -> Entry:
    return Entry(name, REGULAR, (_INSIDE / name).read_bytes())


def _open(engine: Engine, handle: str, owner: str, files: Tree, lists: Mapping[str, Sequence[str]]) -> Sandbox:
    """A sealed container with *files*, the replaying program and *lists* of sessions in a folder of its /tmp."""
    spec = SandboxSpec(role=Role.PROBE, image=handle, memory_mb=1024, tmp_mb=256, pids=64, workdir="/")
    sessions = [Entry(f"{name}.json", REGULAR, json.dumps(list(texts)).encode()) for name, texts in lists.items()]
    room = Sandbox(engine, spec, owner)
    try:
        unpack = ["sh", "-c", f"mkdir {_PLACE} && tar --extract --file=- --directory={_PLACE}"]
        archive = pack(files.overlay(Tree([_program_file("replay.py"), *sessions])))
        done = room.run(unpack, stdin=archive, timeout_s=_TIMEOUT_S, max_output=1 << 16)
        if done.exit_status != 0:
            raise InfraError("sweep", "its files can't be unpacked in a container", "see `trialbox doctor`")
    except BaseException:
        room.destroy()
        raise
    return room


def _replay(room: Sandbox, sessions: str, form: str, argv: Sequence[str]) -> list[tuple[int | None, str]]:
    """What *argv* answers to each of the sessions."""
    command = ["python3", f"{_PLACE}/replay.py", f"{_PLACE}/{sessions}.json", form, *argv]
    done = room.run(command, timeout_s=_TIMEOUT_S, max_output=_MAX_OUTPUT, workdir=_PLACE)
    if done.exit_status != 0 or done.cut:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it does not end"]
        raise InfraError("sweep", f"a program can't be run over the sessions: {last[0][:300]}", "see docs/suites.md")
    return [(status, output) for status, output in map(loads, done.stdout.splitlines())]


def _texts(room: Sandbox, argv: Sequence[str]) -> list[Answer]:
    return [Answer(status=status, output=output) for status, output in _replay(room, "few", "texts", argv)]


def _replaced(engine: Engine, handle: str, owner: str, tree: Tree, few: Sequence[str]) -> list[Answer]:
    files = Tree(Entry(f"tree/{path}", entry.mode, entry.data) for path, entry in tree.items())
    with _open(engine, handle, owner, files, {"few": few}) as room:
        return _texts(room, ["/usr/bin/python3", f"{_PLACE}/tree/{REPLACEMENT}"])


def _differing(plain: Sequence[tuple[int | None, str]], room: Sandbox, group: str) -> int:
    other = _replay(room, "many", "digests", [f"{_PLACE}/variants/{group}"])
    return sum(one != two for one, two in zip(plain, other, strict=True))


def _agreement(texts: Sequence[str], program: Sequence[Answer], replacement: Sequence[Answer]) -> Agreement:
    wrong = [
        Difference(session=number, text=text, program=one, replacement=two)
        for number, (text, one, two) in enumerate(zip(texts, program, replacement, strict=True))
        if one != two
    ]
    return Agreement(sessions=len(texts), differing=len(wrong), examples=tuple(wrong[:_EXAMPLES]))

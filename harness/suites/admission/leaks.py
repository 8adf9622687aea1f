"""The search of a solver's container for the answer: whatever the agent's user can read there, before the solver runs.

What is on the volumes, in the git store, in environments and command lines comes from the task and may hold no expected
value at all. The image is a whole operating system, in which a short value turns up by chance: there several must be in
one file. Compressed files are not unpacked, but for git's objects.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from harness.engine.client import engine_errors
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, VolumeMount
from harness.errors import InfraError
from harness.evidence import TraceRecord
from harness.oracles.needles import expected_needles
from harness.records import Coverage
from harness.suites.task import Task
from harness.suites.tree import LINK, Tree
from harness.workspace import HOME

LEAST_LINE = 20
"""Bytes of a line of the reference that says something when it is found with others."""

SEVERAL = 3
"""Lines of the reference that are no chance in one file, if they are also a third of them all."""

ALONE = 40
"""Bytes of a line that says something by itself, where a reference has fewer lines than several."""

LEAST_IN_IMAGE = 16
"""Bytes of an expected value that is looked for in an image."""

_IN_IMAGE = 12
"""Expected values looked for in an image: the longest ones."""

_STREAM = "tar --create --format=gnu --one-file-system --ignore-failed-read --file=- {} 2>/dev/null; true"
_PROCESSES = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/mounts 2>/dev/null; hostname; true"
_OBJECTS = "[ ! -e .git ] || exec git cat-file --batch --batch-all-objects --buffer"

Files = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Needles:
    """What must not be found."""

    canaries: tuple[bytes, ...]
    expected: tuple[bytes, ...]
    lines: frozenset[bytes]
    """Lines that the reference adds, stripped; what it only moves, or what the prompt shows, is not among them."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.canaries) + len(self.expected) + len(self.lines)


def needles_of(task: Task, reference: Tree) -> Needles:
    """A task's needles; *reference* is the whole tree of its reference."""
    changed = [path for path in {*task.before, *reference} if task.before.get(path) != reference.get(path)]
    old = (task.before[path].data for path in changed if path in task.before)
    new = (reference[path].data for path in changed if path in reference and reference[path].mode != LINK)
    prompt = task.prompt.encode()
    added = set().union(*map(_lines, new)) - set().union(*map(_lines, old))
    lines = {line for line in added if len(line) >= LEAST_LINE and line not in prompt}
    if len(lines) < SEVERAL:
        lines = {line for line in lines if len(line) >= ALONE}
    return Needles(
        canaries=tuple(canary.encode() for canary in task.canaries),
        expected=expected_needles(task),
        lines=frozenset(lines),
    )


def found_in_volumes(needles: Needles, files: Files) -> Iterator[str]:
    """One line for each file of the task's own that holds something of the answer."""
    for name, data in files:
        words = name.encode() + b"\0" + data
        if any(canary in words for canary in needles.canaries):
            yield f"{name} holds a canary"
        if any(value in words for value in needles.expected):
            yield f"{name} holds an expected value"
        if _holds_lines(needles.lines, data):
            yield f"{name} holds lines of the reference"


def found_in_image(needles: Needles, image: ImageText) -> Iterator[str]:
    """The same for the files of an image, where chance has to be told from a leak."""
    values = sorted((one for one in needles.expected if len(one) >= LEAST_IN_IMAGE), key=len, reverse=True)[:_IN_IMAGE]
    several = min(2, len(values))
    suspicious = len(needles.lines & image.lines) >= _several(needles.lines)
    for name, data in image.files:
        if any(canary in data for canary in needles.canaries):
            yield f"{name} holds a canary"
        if values and sum(value in data for value in values) >= several:
            yield f"{name} holds expected values"
        if suspicious and _holds_lines(needles.lines, data):
            yield f"{name} holds lines of the reference"


def _holds_lines(lines: frozenset[bytes], data: bytes) -> bool:
    return bool(lines) and len(lines & _lines(data)) >= _several(lines)


def _several(lines: frozenset[bytes]) -> int:
    return max(1, min(SEVERAL, len(lines)), -(-len(lines) // 3))


def _lines(data: bytes) -> set[bytes]:
    return {line.strip() for line in data.splitlines()}


class ImageText:
    """The files of an image, read once; ``lines`` are the lines of its text files that could be somebody's code."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.lines = {
            line
            for _, data in files
            if b"\0" not in data[:1024]
            for line in _lines(data)
            if LEAST_LINE <= len(line) <= 1000
        }


@dataclass
class ImageShelf:
    """The image looked at last, so that tasks on the same one share the reading. Safe to use from many threads."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _handle: str = ""
    _text: ImageText | None = None

    def of(self, sandbox: Sandbox) -> ImageText:
        """The text of a running container's image."""
        with self._lock:
            if self._text is None or self._handle != sandbox.spec.image:
                self._text = None  # one image is some hundred megabytes
                self._text, self._handle = ImageText(_stream(sandbox, "/")), sandbox.spec.image
            return self._text


class Search:
    """A hook that searches the container once it is ready for the solver.

    Args:
        task: the task; the search is of what its solver gets.
        needles: what must not be found.
        shelf: remembers images.
    """

    channel = "leaks"
    binds: Sequence[BindMount] = ()
    volumes: Sequence[VolumeMount] = ()

    def __init__(self, task: Task, needles: Needles, shelf: ImageShelf) -> None:
        self.env: dict[str, str] = {}
        self.hits: tuple[str, ...] = ()
        self.searched = 0
        self._task = task
        self._needles = needles
        self._shelf = shelf

    def before_solve(self, sandbox: Sandbox) -> None:
        """Search.

        Raises:
            InfraError: the container could not be read.
        """
        volumes = [
            *_stream(sandbox, f"{self._task.workspace} {HOME} /tmp /dev/shm"),
            ("the git store", _output(sandbox, _OBJECTS, self._task.workspace)),
            ("the processes", _output(sandbox, _PROCESSES, "/")),
            ("the container", _described(sandbox)),
        ]
        image = self._shelf.of(sandbox)
        self.searched = len(volumes) + len(image.files)
        self.hits = (*found_in_volumes(self._needles, volumes), *found_in_image(self._needles, image))

    def after_solve(self) -> TraceRecord:
        """Nothing was traced."""
        return TraceRecord(channel=self.channel, coverage=Coverage.NONE, reason="searched before the solver ran")


def _described(sandbox: Sandbox) -> bytes:
    """What the engine says of the container and its image: names, labels, environment, history."""
    api = sandbox.engine.api
    with engine_errors("leak search"):
        inspected = api.inspect_container(sandbox.id)
        image = inspected["Image"]
        about = [inspected["Config"], api.inspect_image(image), api.history(image)]  # type: ignore[no-untyped-call]
        return json.dumps(about).encode()


def _output(sandbox: Sandbox, script: str, workdir: str) -> bytes:
    ran = sandbox.run(("sh", "-c", script), timeout_s=120, max_output=256 << 20, workdir=workdir)
    if ran.exit_status != 0 or ran.cut:
        raise InfraError("leak search", f"`{script[:40]}...` ended with {ran.exit_status}", "see `trialbox doctor`")
    return ran.stdout


def _stream(sandbox: Sandbox, places: str) -> Files:
    with tempfile.TemporaryFile() as spool:

        def keep(chunk: bytes) -> None:
            spool.write(chunk)

        ran = sandbox.run(
            ("sh", "-c", _STREAM.format(places)),
            timeout_s=300,
            max_output=1 << 16,
            workdir="/",
            consume=keep,
        )
        if ran.exit_status != 0:
            raise InfraError("leak search", f"tar of {places} ended with {ran.exit_status}", "see `trialbox doctor`")
        spool.seek(0)
        return list(_members(spool, places))


def _members(spool: IO[bytes], places: str) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=spool, mode="r:") as archive:
            for member in archive:
                if member.isreg():
                    content = archive.extractfile(member)
                    yield member.name, content.read() if content else b""
                else:
                    yield member.name, member.linkname.encode("utf-8", "surrogateescape")
    except tarfile.TarError as error:
        raise InfraError("leak search", f"tar of {places} is not whole: {error}", "see `trialbox doctor`") from error

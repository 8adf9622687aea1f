"""Scan a candidate's change: the host side of the scanner.

One call of the service covers all files that the cache doesn't know; usually that is one ``run`` in one container. The
candidate's bytes go in on stdin under numbers, so no name of its choosing reaches the container.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from harness import digest as _digest
from harness.errors import InfraError
from harness.records import Record, from_json, to_json
from harness.scan.records import ScannedFile, ScanRecord, Side, Tools, Trouble
from harness.scan.rules import BATCH_BYTES, LIMITS, MAX_FILES, SETTINGS
from harness.suites.tree import LINK, Entry, Tree

SERVICE = files("harness.scan").joinpath("service.py").read_text(encoding="utf-8")
_MAX_OUTPUT = 256 << 20

T = TypeVar("T", bound=Record)


class ExecResult(Protocol):
    """What a command in a sandbox came to."""

    @property
    def exit_status(self) -> int | None: ...
    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def cut(self) -> bool: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def wall_us(self) -> int: ...


class Runner(Protocol):
    """A container of the scanner image: no network, read-only but for ``/tmp``, at least 1 GB of memory."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes,
        timeout_s: float,
        max_output: int,
        user: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ExecResult: ...


class ScanCache(Protocol):
    """Answers by key; keeping one is never needed for correctness."""

    def get(self, key: str) -> bytes | None: ...
    def put(self, key: str, value: bytes) -> None: ...


class MemoryCache:
    """A cache for one process."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._known.get(key)

    def put(self, key: str, value: bytes) -> None:
        self._known[key] = value


class _Target(NamedTuple):
    """One content to scan, under the only two names that matter to the rules."""

    blob: str
    name: str


class _Changed(NamedTuple):
    """A changed Python file; a side that is absent, a link or not Python is ``None``."""

    path: str
    before: Entry | None
    after: Entry | None

    def target(self, entry: Entry | None) -> _Target | None:
        if entry is None:
            return None
        initial = self.path.rsplit("/", 1)[-1] == "__init__.py"
        return _Target(entry.sha256, "__init__.py" if initial else "module.py")


@dataclass(frozen=True)
class Scanner:
    """Scans changes in containers that it opens when it needs one.

    Args:
        container: opens a container of the scanner image; called at most once a scan, and not at all if the cache
            knows every file.
        image: our id of that image, on the record and part of the cache's keys; None outside a container.
        cache: answers of earlier scans.
    """

    container: Callable[[], AbstractContextManager[Runner]]
    image: str | None
    cache: ScanCache | None = None

    def scan(self, before: Tree, after: Tree) -> ScanRecord:
        """Scan both sides of every Python file that differs.

        Raises:
            InfraError: the service did not start or did not speak its protocol.
        """
        changed, python = _changes(before, after)
        size = sum(len(entry.data) for one in python for entry in (one.before, one.after) if entry is not None)
        if not python or len(python) > MAX_FILES or size > LIMITS["change_bytes"]:
            return ScanRecord(changed=changed, python=len(python), complete=not python, tools=None, files=())
        contents: dict[_Target, bytes] = {}
        for one in python:
            for entry in (one.before, one.after):
                target = one.target(entry)
                if entry is not None and target is not None:
                    # One byte over the limit is enough for the service to refuse the file.
                    contents[target] = entry.data[: LIMITS["file_bytes"] + 1]
        prefix = _digest.digest([self.image, _digest.sha256_bytes(SERVICE.encode()), SETTINGS])
        tools = _cached(self.cache, f"{prefix}/tools", Tools)
        known = {target: _cached(self.cache, _key(prefix, target), Side) for target in contents}
        sides = {target: side for target, side in known.items() if side is not None}
        missing = sorted(contents.keys() - sides.keys())
        if missing or tools is None:
            with self.container() as runner:
                for batch in _batches(missing, contents):
                    tools, answers = _run_service(runner, batch, self.image)
                    sides.update(answers)
        if tools is None:
            raise AssertionError("a service call always names its tools")
        if self.cache is not None and missing:
            self.cache.put(f"{prefix}/tools", to_json(tools))
            for target in missing:
                if sides[target].lasting:
                    self.cache.put(_key(prefix, target), to_json(sides[target]))
        return ScanRecord(
            changed=changed,
            python=len(python),
            complete=True,
            tools=tools,
            files=tuple(_scanned(one, sides) for one in python),
        )


def _changes(before: Tree, after: Tree) -> tuple[int, list[_Changed]]:
    """How many paths differ, and the Python files among them in the order of their paths' bytes."""
    changed = 0
    python = []
    for path in sorted(before.keys() | after.keys(), key=str.encode):
        if before.get(path) == after.get(path):
            continue
        changed += 1
        old, new = _python(before.get(path)), _python(after.get(path))
        if (old and old.sha256) != (new and new.sha256):
            python.append(_Changed(path, old, new))
    return changed, python


def _python(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and entry.path.endswith(".py") and entry.mode != LINK else None


def _scanned(one: _Changed, sides: Mapping[_Target, Side]) -> ScannedFile:
    old, new = one.target(one.before), one.target(one.after)
    return ScannedFile(
        path=one.path,
        before_blob=old.blob if old else None,
        after_blob=new.blob if new else None,
        before=sides[old] if old else None,
        after=sides[new] if new else None,
    )


def _key(prefix: str, target: _Target) -> str:
    return f"{prefix}/{target.name}/{target.blob}"


def _cached(cache: ScanCache | None, key: str, kind: type[T]) -> T | None:
    data = cache.get(key) if cache is not None else None
    return None if data is None else from_json(kind, data, key)


def _batches(targets: Sequence[_Target], contents: Mapping[_Target, bytes]) -> Iterator[dict[_Target, bytes]]:
    """Group contents so that one call stays small; one batch at least, since it also tells the versions."""
    batch: dict[_Target, bytes] = {}
    size = 0
    for target in targets:
        data = contents[target]
        if batch and size + len(data) > BATCH_BYTES:
            yield batch
            batch, size = {}, 0
        batch[target] = data
        size += len(data)
    yield batch


def _run_service(
    runner: Runner, batch: Mapping[_Target, bytes], image: str | None
) -> tuple[Tools, dict[_Target, Side]]:
    """One call of the service; a file that it gave no answer for is unavailable, with the reason."""
    requests: list[object] = [SETTINGS]
    targets = list(batch)
    for number, target in enumerate(targets):
        data = base64.b64encode(batch[target]).decode()
        requests.append({"n": number, "name": target.name, "data": data})
    result = runner.run(
        ("python3", "-I", "-c", SERVICE),
        stdin=b"".join(json.dumps(request).encode() + b"\n" for request in requests),
        timeout_s=LIMITS["batch_s"] + 2 * LIMITS["wall_s"],
        max_output=_MAX_OUTPUT,
    )
    lines = _whole_lines(result)
    if not lines or "tools" not in lines[0]:
        said = result.stderr[-400:].decode(errors="replace").strip().splitlines()
        problem = f"did not start (exit status {result.exit_status}{': ' + ascii(said[-1]) if said else ''})"
        raise InfraError("scanner", problem, "check the scanner image with `trialbox images verify`")
    if result.timed_out:
        silent = Trouble.TIME
    elif result.cut:
        silent = Trouble.OUTPUT
    else:
        silent = Trouble.DIED
    sides = dict.fromkeys(targets, Side(trouble=silent))
    try:
        tools = Tools(**lines[0]["tools"], image=image)
        for line in lines[1:]:
            if "n" in line:
                target = targets[line.pop("n")]
                sides[target] = Side.model_validate(line)
    except (ValidationError, TypeError, IndexError) as error:
        raise InfraError("scanner", "gave an answer out of its protocol", "check the scanner image") from error
    return tools, sides


def _whole_lines(result: ExecResult) -> list[dict[str, Any]]:
    """The JSON objects of the output; what follows its last newline was cut in two."""
    whole = result.stdout.split(b"\n")[:-1]
    try:
        return [_digest.loads(line) for line in whole]
    except ValueError as error:
        raise InfraError("scanner", "said something that is not JSON", "check the scanner image") from error

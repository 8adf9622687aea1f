"""Runs the scanner service on this machine's own Python: what the tools say, without a container."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.engine.exec import ExecResult
from harness.scan import Scanner
from harness.suites.tree import REGULAR, Entry, Tree


class LocalRunner:
    """Takes the container's place; counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes,
        timeout_s: float,
        max_output: int,
        user: str | None = None,  # noqa: ARG002 - the protocol has it
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        self.calls += 1
        started = time.monotonic_ns()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        done = subprocess.run(
            [sys.executable, *argv[1:]],
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            env={"PATH": path, **(env or {})},
            check=False,
        )
        out = done.stdout[:max_output]
        dropped = len(done.stdout) - len(out)
        return ExecResult(done.returncode, out, done.stderr, dropped, False, (time.monotonic_ns() - started) // 1000)


RUNNER = LocalRunner()


@contextmanager
def local() -> Iterator[LocalRunner]:
    yield RUNNER


def tree(files: Mapping[str, str | bytes]) -> Tree:
    """A tree of plain files."""
    return Tree(
        Entry(path, REGULAR, text if isinstance(text, bytes) else text.encode()) for path, text in files.items()
    )


SCANNER = Scanner(container=local, image=None)


def scan(before: Mapping[str, str | bytes], after: Mapping[str, str | bytes]):
    """The record of one change."""
    return SCANNER.scan(tree(before), tree(after))

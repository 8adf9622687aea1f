"""Run the command as a user does: a process of its own, with a state folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def heed_signals() -> None:
    """For a child before it begins: in the background, where tests may run, these are ignored, and so in children."""
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@dataclass(frozen=True)
class Ran:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The last line on stderr."""
        return self.err.strip().splitlines()[-1]


def trialbox(home: Path, *arguments: str, program: Sequence[str] = ("trialbox.cli",), **environ: str) -> Ran:
    """Run ``trialbox`` with *home* as its state folder, by the module and first words of *program*."""
    done = subprocess.run(
        [sys.executable, "-m", *program, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=home.parent,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
            "TRIALBOX_HOME": str(home),
            **environ,
        },
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)

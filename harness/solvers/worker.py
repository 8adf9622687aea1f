"""One prompt to a model, one reply: the answer goes to standard output, where the extraction ladder takes it.

The program below runs in the container, behind the same loopback and gateway as any agent. It streams nothing, asks for
no tools, and tries again a few times where a provider says that it is busy.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from harness.gateway.records import Api
from harness.solvers import Driver, SolveContext, Solved
from harness.solvers.builtin import run_program
from harness.solvers.cli import LAUNCH, needed
from harness.solvers.manifest import Manifest

KEY_ENV = "WORKER_KEY"
PROGRAM = Path(__file__).parent / "inside/ask.py"
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""What the formats' own providers take; which of them a model takes is for its provider to say."""
APIS = {"anthropic": Api.ANTHROPIC, "openai": Api.RESPONSES, "google": Api.GEMINI}
"""The format that a known provider is asked in; any other is asked in ``chat``, which all compatible servers speak."""


def worker(manifest: Manifest) -> Driver:
    """A driver that asks the manifest's model in its format."""

    def drive(context: SolveContext) -> Solved:
        access = needed(context)
        api = manifest.api or APIS.get(manifest.provider or "", Api.CHAT)
        code = PROGRAM.read_text("utf-8")
        argv = (*LAUNCH, "python3", "-I", "-c", code, access.base_url, api.value, access.model, access.effort or "")
        env = {**context.env, KEY_ENV: access.token}
        solved = run_program(dataclasses.replace(context, env=env), argv, context.task.prompt.encode())
        return dataclasses.replace(solved, argv=("worker", api.value, access.model, access.effort or "none"))

    return drive

"""Any program as a solver: the prompt is in a file and on standard input, the workspace is the current folder."""

from __future__ import annotations

from harness.solvers import Driver, SolveContext, Solved
from harness.solvers.builtin import run_program
from harness.solvers.manifest import Manifest


def command(manifest: Manifest) -> Driver:
    """A driver for the manifest's program."""

    def drive(context: SolveContext) -> Solved:
        argv = tuple(word.replace("{prompt_file}", context.prompt_file) for word in manifest.argv)
        return run_program(context, argv, context.task.prompt.encode())

    return drive

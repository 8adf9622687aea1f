"""From exceptions to exit codes, and the one JSON object of ``--json``: what every command is wrapped in."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from harness.errors import ExitCode, TrialboxError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]

Command = Callable[..., ExitCode]


def guarded(command: Command) -> Callable[..., None]:
    """Run a command that returns its exit code; what it raises on purpose becomes one line and a code."""

    @functools.wraps(command)
    def call(**options: Any) -> None:
        as_json = bool(options.get("as_json"))
        try:
            code = command(**options)
            sys.stdout.flush()
        except TrialboxError as error:
            code = error.exit_code
            _tell(error, as_json)
        except KeyboardInterrupt:
            code = ExitCode.INTERRUPTED
            sys.stderr.write("trialbox: interrupted\n")
        except BrokenPipeError:  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = ExitCode.DONE
        raise typer.Exit(int(code))

    return call


def say(value: object) -> None:
    """Print the one JSON object."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def line(text: str) -> None:
    """Print one line of text."""
    sys.stdout.write(text + "\n")


def _tell(error: TrialboxError, as_json: bool) -> None:
    text = " ".join(str(error).split())
    sys.stderr.write(f"trialbox: {text}\n")
    if as_json:
        say(
            {
                "error": {
                    "where": error.where,
                    "problem": error.problem,
                    "remedy": error.remedy,
                    "exit_code": int(error.exit_code),
                }
            }
        )

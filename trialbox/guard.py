"""From exceptions to exit codes, and the one JSON object of ``--json``: what every command is wrapped in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from harness.errors import ExitCode, TrialboxError


def guarded(command: Callable[[], ExitCode], *, as_json: bool) -> ExitCode:
    """Run a command to its exit code; what it raises on purpose becomes one line and a code."""
    try:
        code = command()
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
    return code


def say(value: object) -> None:
    """Print the one JSON object."""
    import json

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

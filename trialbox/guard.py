"""From exceptions to exit codes, and the one JSON object of ``--json``: what every command is wrapped in."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from harness.errors import ExitCode, StorageError, TrialboxError, UserError, VerifyError

Taken = TypeVar("Taken")


def of_a_card(run: Callable[[Taken], ExitCode]) -> Callable[[Taken], ExitCode]:
    """A command that needs the card it is given: one that is damaged is a mistake in what was asked.

    Whatever it raises otherwise, it raises still. It must not end in 1, which is another answer of such a command.
    """

    @wraps(run)
    def checked(options: Taken) -> ExitCode:
        try:
            return run(options)
        except VerifyError as error:
            raise UserError(error.where, error.problem, error.remedy) from error

    return checked


def guarded(command: Callable[[], ExitCode], *, as_json: bool) -> ExitCode:
    """Run a command to its exit code; what it raises on purpose becomes one line and a code."""
    _have_streams()
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
        _silence()
        code = ExitCode.DONE
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and isinstance(error.filename, str):
            code = ExitCode.USER
            _tell(
                UserError(f"{error.filename[:60]}...", "is too long for a file's name", "give a shorter one"), as_json
            )
            return code
        # Every other part names the file it fails at; what has no name is the stream that we print to.
        if error.filename is not None:
            raise
        _silence()
        code = ExitCode.INFRA
        problem = f"can't be written: {error.strerror or error}"
        _tell(StorageError("standard output", problem, "send it elsewhere"), as_json=False)
    return code


def _have_streams() -> None:
    """Somebody may have closed them: what is printed then goes nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def _silence() -> None:
    """What is still in the buffer would fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(value: object) -> None:
    """Print the one JSON object."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    # The same value: what a terminal would obey, or would not show, is written as an escape of JSON's own.
    sys.stdout.write(
        re.sub(r"[^\n -~]", lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], text)
    )
    sys.stdout.write("\n")


def line(text: str) -> None:
    """Print one line of text."""
    from harness.untrusted import inert

    sys.stdout.write("\n".join(map(inert, text.split("\n"))) + "\n")


def _tell(error: TrialboxError, as_json: bool) -> None:
    from harness.untrusted import inert

    text = inert(" ".join(str(error).split()))
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

"""The command ``trialbox``: nothing but names; each command imports what it needs when it runs."""

from __future__ import annotations

import sys

from harness.errors import ExitCode
from trialbox.arguments import Group
from trialbox.commands import audit, card, compare, doctor, gc, grade, images, provider, report, reproduce, run, suite
from trialbox.guard import guarded, line

_MORE = """\
`trialbox COMMAND --help` shows what a command takes; each takes --json. `trialbox --version` says which one this is.

Exit codes:
  0    yes, or done
  1    the answer is no
  2    a mistake in what was asked
  3    engine, disk or state folder failed
  4    refused by a gate
  130  interrupted; `trialbox run --resume latest` goes on
"""

TRIALBOX = Group(
    "trialbox",
    "Run coding agents on tasks in sealed containers, grade what they leave, and stamp a card that verifies.",
    (
        doctor.COMMAND,
        suite.GROUP,
        run.COMMAND,
        grade.COMMAND,
        report.COMMAND,
        card.GROUP,
        reproduce.COMMAND,
        compare.COMMAND,
        audit.COMMAND,
        images.GROUP,
        provider.COMMAND,
        gc.COMMAND,
    ),
    _MORE,
)


def main(words: list[str] | None = None) -> int:
    """The entry point; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    if words == ["--version"]:
        return _version()
    options = words[: words.index("--")] if "--" in words else words
    return guarded(lambda: TRIALBOX.call("trialbox", words), as_json="--json" in options)


def _version() -> ExitCode:
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("trialbox")
    except PackageNotFoundError:
        number = "of a checkout that is not installed"
    line(f"trialbox {number}")
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())

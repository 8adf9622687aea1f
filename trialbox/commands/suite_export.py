"""``trialbox suite export``: a suite as Harbor folders; a run's changes as predictions, its courses as trajectories."""

from __future__ import annotations

from harness.counted import counted
from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser, did_you_mean
from trialbox.guard import line, of_a_card, say

FORMATS = ("harbor", "swe-bench", "atif")


class ExportOptions(Options):
    """What ``export`` takes."""

    what: str
    to: str
    output: str
    task: list[str] | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("what", metavar="SUITE|RUN|CARD", help="a suite for harbor; a run or card for swe-bench and atif")
    add("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    add("--output", metavar="DIR", required=True, help="a new folder")
    add("--task", metavar="ID", action="append", help="only this task; repeatable")


@of_a_card
def export(options: ExportOptions) -> ExitCode:
    """Write a suite or a run in another's format, and say what that format can't hold.

    harbor: a task folder for each task. swe-bench: predictions.jsonl of a run's changes. atif: a trajectory (v1.8) for
    each attempt of a run.
    """
    from pathlib import Path

    from trialbox import exporting

    output, tasks = Path(options.output), tuple(options.task or ())
    match options.to:
        case "harbor":
            done = exporting.to_harbor(options.what, output, tasks)
        case "swe-bench":
            done = exporting.to_predictions(options.what, output, tasks)
        case "atif":
            done = exporting.to_trajectories(options.what, output, tasks)
        case _:
            near = did_you_mean(options.to, FORMATS, "--to ")
            raise UserError("--to", f"{options.to!r} is no format", near or f"known: {', '.join(FORMATS)}")
    if options.as_json:
        say({"folder": str(output), "files": list(done.files), "not_carried": dict(done.not_carried)})
        return ExitCode.DONE
    line(f"{counted(len(done.files), 'file')} in {output}")
    for name, lost in done.not_carried.items():
        for one in lost:
            line(f"  {name}: not carried: {one}")
    return ExitCode.DONE


COMMAND = Command("export", export, ExportOptions, declare)

"""The command ``trialbox``: nothing but names; each command imports what it needs when it runs."""

from __future__ import annotations

import typer

from trialbox.commands import card, images, suite
from trialbox.commands.doctor import doctor
from trialbox.commands.gc import gc
from trialbox.commands.report import report
from trialbox.commands.run import run
from trialbox.guard import guarded

app = typer.Typer(
    name="trialbox",
    help="Run coding agents on tasks in sealed containers, grade what they leave, and stamp a card that verifies.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 yes or done; 1 the answer is no; 2 a mistake in what was asked; 3 engine, disk or state "
    "folder failed; 4 refused by a gate; 130 interrupted, `trialbox run --resume latest` goes on.",
)

app.command("doctor")(guarded(doctor))
app.add_typer(suite.app, name="suite")
app.command("run")(guarded(run))
app.command("report")(guarded(report))
app.add_typer(card.app, name="card")
app.add_typer(images.app, name="images")
app.command("gc")(guarded(gc))


def main() -> None:
    """The entry point."""
    app()


if __name__ == "__main__":
    main()

"""The command line itself: its help, its mistakes, and that every command takes what it declares."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Group, Options, Parser, whole
from trialbox.cli import TRIALBOX, main

ROOT = Path(__file__).resolve().parent.parent


def commands(group: Group, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    for one in group.members.values():
        if isinstance(one, Group):
            yield from commands(one, (*before, one.name))
        else:
            yield (*before, one.name), one


COMMANDS = dict(commands(TRIALBOX))
NEEDED = {
    ("suite", "show"): ("smoke",),
    ("suite", "lock"): ("smoke",),
    ("suite", "import"): ("harbor", "folder"),
    ("suite", "export"): ("smoke", "--to", "harbor", "--output", "folder"),
    ("grade",): ("smoke", "--predictions", "file"),
    ("card", "bundle"): ("--output", "file"),
    ("card", "sign"): ("--key", "file"),
    ("compare",): ("latest",),
    ("provider",): ("script.yaml",),
}
"""What a command can't be read without."""


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_help_lists_each_command_and_each_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "--help")
    assert (code, err) == (0, "")
    for path, command in COMMANDS.items():
        [line] = [line for line in out.splitlines() if line.startswith(f"  {' '.join(path)} ")]
        assert line.endswith(command.about.splitlines()[0])
    for each in ExitCode:
        assert f"\n  {each.value:<4} " in out
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("path", [*COMMANDS, ("card",)], ids=" ".join)
def test_each_command_has_help(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-h", "--help"):
        try:
            code = main([*path, flag])
        except SystemExit as end:  # argparse's own way to end after a command's help
            code = int(end.code or 0)
        out, _ = capsys.readouterr()
        assert code == 0
        assert out.startswith(f"usage: trialbox {' '.join(path)} ")


@pytest.mark.parametrize("words", [(), ("card",), ("suite",), ("images",)], ids=" ".join)
def test_a_missing_command_shows_which_there_are(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"usage: trialbox {' '.join((*words, 'COMMAND'))} ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("crad list", ("crad: is no command of `trialbox`", "did you mean `trialbox card`?")),
        ("card lits", ("lits: is no command", "did you mean `trialbox card list`?")),
        ("zzz", ("known: doctor, ",)),
        ("--verbose run", ("--verbose: is no option of `trialbox`",)),
        ("run smoke --solvr noop", ("--solvr: is no option of `trialbox run`", "did you mean `--solver`?")),
        ("run smoke --solvr=noop", ("--solvr: is no option",)),
        ("run smoke --lim 1", ("--lim: is no option", "did you mean `--limit`?")),
        ("run smoke --limit", ("--limit: needs a value", "`trialbox run --help`")),
        ("run smoke --limit one", ("--limit: 'one' is no whole number",)),
        ("run smoke --list=yes", ("--list: takes no value, but got 'yes'",)),
        ("run smoke other", ("other: is no argument of `trialbox run`",)),
        ("suite show", ("SUITE: is missing",)),
        ("gc --force", ("--force: is no option of `trialbox gc`", "`trialbox gc --help`")),
    ],
)
def test_a_usage_error_is_one_line_that_says_what_to_type(
    line: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = said(capsys, *line.split())
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    for word in words:
        assert word in err
    code, out, again = said(capsys, *line.split(), "--json")
    assert (code, again) == (2, err)
    assert json.loads(out)["error"]["exit_code"] == 2


class Wanted(Options):
    first: str
    rest: list[str]
    number: int


def declare(parser: Parser) -> None:
    parser.add_argument("first", nargs="?", default="none")
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--number", type=whole, default=7)


@pytest.mark.parametrize(
    ("line", "first", "rest", "number"),
    [
        ("", "none", [], 7),
        ("--number 1 a b c", "a", ["b", "c"], 1),
        ("a --number=1 b c", "a", ["b", "c"], 1),
        ("a b c --number 1", "a", ["b", "c"], 1),
        ("--number 1 --number -2 a", "a", [], -2),
        ("-- a", "a", [], 7),
    ],
)
def test_options_and_arguments_come_in_any_order(line: str, first: str, rest: list[str], number: int) -> None:
    parser = Parser("some", "")
    declare(parser)
    got = parser.fill(Wanted(), line.split())
    assert (got.first, got.rest, got.number) == (first, rest, number)


def test_every_option_is_declared_with_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command's class annotates is what its parser fills in: the type checker can't see across."""
    seen: list[tuple[set[str], set[str]]] = []

    def fill(self: Parser, options: Options, words: list[str]) -> Options:
        wanted = {name for kind in type(options).__mro__ for name in getattr(kind, "__annotations__", {})}
        self.parse_known_intermixed_args(words, options)
        seen.append((wanted, set(vars(options))))
        raise UserError("test", "stops here")

    monkeypatch.setattr(Parser, "fill", fill)
    for path in COMMANDS:
        assert main([*path, *NEEDED.get(path, ())]) == 2
    assert len(seen) == len(COMMANDS)
    for wanted, filled in seen:
        assert wanted == filled


def test_the_version_and_the_two_ways_in() -> None:
    for module in ("trialbox", "trialbox.cli"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--version"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("trialbox ")
        assert len(done.stdout.splitlines()) == 1

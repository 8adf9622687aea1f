"""The command line's grammar, over the standard library's parser: groups of commands, and the options of each.

A command is a name, a class whose annotations type its options, a function that declares them, and one that runs.
Whatever a user gets wrong is a UserError of one line that names the word and what to type instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TypeVar

from harness.errors import ExitCode, UserError

_MISSING = "the following arguments are required: "
_PLAINER = {"expected one argument": "needs a value", "ignored explicit argument": "takes no value, but got"}


class Options:
    """What every command takes."""

    as_json: bool


Taken = TypeVar("Taken", bound=Options)


class Parser(argparse.ArgumentParser):
    """Declares and reads one command's options; options and arguments may come in any order."""

    def __init__(self, command: str, about: str) -> None:
        self._known: list[str] = []
        super().__init__(
            prog=command,
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            exit_on_error=False,
        )

    def add_argument(self, *names: Any, **how: Any) -> argparse.Action:
        """As argparse's, and remembered for "did you mean"."""
        action = super().add_argument(*names, **how)
        self._known += action.option_strings
        return action

    def fill(self, options: Taken, words: list[str]) -> Taken:
        """Read the words into *options*.

        Raises:
            UserError: a word that is no option, a value that is missing or wrong.
        """
        try:
            options, left = self.parse_known_intermixed_args(words, options)
        except argparse.ArgumentError as error:
            if error.argument_name is None:
                self.error(error.message)
            raise UserError(error.argument_name, _plainer(error.message), self._see()) from error
        if left:
            word = left[0].partition("=")[0]
            kind = "option" if word.startswith("-") else "argument"
            raise UserError(word, f"is no {kind} of `{self.prog}`", did_you_mean(word, self._known) or self._see())
        return options

    def error(self, message: str) -> NoReturn:
        """What argparse calls for a mistake: no usage text, no exit."""
        if message.startswith(_MISSING):
            raise UserError(message.removeprefix(_MISSING), "is missing", self._see())
        raise UserError(self.prog, message, self._see())

    def _see(self) -> str:
        return f"`{self.prog} --help` shows what it takes"


class Command:
    """One command. Its help is the docstring of the function that runs it; the first line is its line in the list."""

    def __init__(
        self,
        name: str,
        run: Callable[[Taken], ExitCode],
        options: type[Taken],
        declare: Callable[[Parser], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.about = (run.__doc__ or "").strip()

        def read(path: str, words: list[str]) -> Taken:
            about = "\n".join(line.strip() for line in self.about.splitlines())
            parser = Parser(path, about)
            declare(parser)
            flag = "print one JSON object on stdout and nothing else"
            parser.add_argument("--json", dest="as_json", action="store_true", help=flag)
            return parser.fill(options(), words)

        self.read: Callable[[str, list[str]], Options] = read
        """What words mean to it; nothing is run."""
        self.call = lambda path, words: run(read(path, words))


class Group:
    """Commands under one word. ``more`` ends its help."""

    def __init__(self, name: str, about: str, members: Iterable[Command | Group], more: str = "") -> None:
        self.name = name
        self.about = about
        self.members = {one.name: one for one in members}
        self.more = more

    def call(self, path: str, words: list[str]) -> ExitCode:
        """Run the command that the words name; with no words at all, show which there are.

        Raises:
            UserError: they name none.
            TrialboxError: what the command raises.
        """
        word = words[0] if words else ""
        if word in {"-h", "--help"}:
            sys.stdout.write(self.help(path))
            return ExitCode.DONE
        if not words:
            sys.stderr.write(self.help(path))
            return ExitCode.USER
        if word in self.members:
            return self.members[word].call(f"{path} {word}", words[1:])
        if word.startswith("-"):
            raise UserError(word, f"is no option of `{path}`", f"options come last; `{path} --help` lists the commands")
        near = did_you_mean(word, self.members, f"{path} ")
        raise UserError(word, f"is no command of `{path}`", near or f"known: {', '.join(self.members)}")

    def help(self, path: str) -> str:
        """The commands, one line each."""
        lines = list(self._lines(""))
        width = max(len(name) for name, _ in lines)
        listed = "".join(f"  {name:<{width}}  {about}\n" for name, about in lines)
        return f"usage: {path} COMMAND [options]\n\n{self.about}\n\n{listed}\n{self.more}"

    def _lines(self, before: str) -> Iterator[tuple[str, str]]:
        for one in self.members.values():
            if isinstance(one, Group):
                yield from one._lines(f"{before}{one.name} ")
            else:
                yield before + one.name, one.about.splitlines()[0]


def whole(text: str) -> int:
    """The type of options that are whole numbers."""
    try:
        return int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from error


def did_you_mean(word: str, known: Iterable[str], before: str = "") -> str:
    """The remedy for a word that is nearly a known one; empty if it is near none."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"did you mean `{before}{near[0]}`?" if near else ""


def _plainer(message: str) -> str:
    for theirs, ours in _PLAINER.items():
        message = message.replace(theirs, ours)
    return message

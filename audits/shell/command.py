"""One simple command: its words, what starts it taken off, and the scripts that it would run in its turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import basename

SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"}
_WRAPPERS = frozenset(
    """
    sudo doas nohup nice ionice setsid stdbuf command builtin exec time timeout env xargs unbuffer busybox
    chronic parallel watch strace ltrace script chroot flock proot fakeroot
    """.split()  # noqa: SIM905 - words read best as words
)
_TAKES_VALUE = frozenset("-u -n -s -k -i -o -e -I -P -L -d -c -C -g --signal --unset --chdir".split())  # noqa: SIM905


@dataclass(frozen=True)
class Redirect:
    """Where a command's output goes, or its input comes from: ``operator`` as it is written."""

    operator: str
    target: str


@dataclass(frozen=True)
class Command:
    """One simple command: its words, what is unknown as ``*``.

    ``stdin`` is the text that it reads, where that stands there. ``via`` says how it was hidden, from the outside in:
    ``sh -c``, ``eval``, ``base64``.
    """

    argv: tuple[str, ...]
    redirects: tuple[Redirect, ...] = ()
    stdin: str | None = None
    env: tuple[str, ...] = ()
    """Names and values that are set for it: ``NAME=value``."""
    via: tuple[str, ...] = ()
    piped: bool = False
    """Whether another command's output is its input."""

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return basename(self.argv[0]) if self.argv else ""

    @property
    def args(self) -> tuple[str, ...]:
        """The words after it."""
        return self.argv[1:]


@dataclass
class Script:
    """What a text holds. ``partial`` is why some of it is not in ``commands``; empty if all of it is."""

    commands: list[Command] = field(default_factory=list)
    partial: str = ""


def hidden_in(command: Command) -> Iterator[tuple[tuple[str, ...], str]]:
    """The scripts that a command would run, each with how it is hidden."""
    name, args = command.name, command.args
    if name in SHELLS:
        flag = next((n for n, one in enumerate(args) if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", one)), None)
        if flag is not None and flag + 1 < len(args):
            yield (f"{name} -c",), args[flag + 1]
        elif command.stdin is not None and not [one for one in args if not one.startswith("-")]:
            yield (("piped",) if command.piped else ("here-document",)), command.stdin
    elif name == "eval" and args:
        yield ("eval",), " ".join(args)
    elif name == "trap" and args:
        yield ("trap",), args[0]
    elif name in {"source", "."} and command.stdin is not None:
        yield ("source",), command.stdin
    elif name == "find":
        for number, one in enumerate(args):
            if one in {"-exec", "-execdir", "-ok"}:
                rest = args[number + 1 :]
                ends = [n for n, word in enumerate(rest) if word in {";", "+"}]
                yield (), _quoted(rest[: ends[0]] if ends else rest)
    elif name == "su":
        flag = next((n for n, one in enumerate(args) if one == "-c"), None)
        if flag is not None and flag + 1 < len(args):
            yield ("su -c",), args[flag + 1]


def _quoted(words: Sequence[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def unwrapped(command: Command) -> Command:
    """A command without what only starts it: ``sudo``, ``env``, ``timeout``, ``xargs`` and their like."""
    argv = list(command.argv)
    env = list(command.env)
    while len(argv) > 1 and basename(argv[0]) in _WRAPPERS:
        name, rest = basename(argv[0]), argv[1:]
        if name == "env" and all(one.startswith("-") for one in rest):
            break
        at = 0
        while at < len(rest):
            word = rest[at]
            if word == "--":
                at += 1
                break
            if word in _TAKES_VALUE and at + 1 < len(rest) and name not in {"command", "exec", "time"}:
                at += 2
            elif word.startswith("-"):
                at += 1
            elif name == "env" and re.match(r"[A-Za-z_]\w*=", word):
                env.append(word)
                at += 1
            elif (name == "timeout" and re.fullmatch(r"[0-9.]+[smhd]?", word)) or (
                name in {"chroot", "flock"} and at == 0
            ):
                at += 1
            else:
                break
        if at >= len(rest):
            break
        argv = rest[at:]
    return Command(tuple(argv), command.redirects, command.stdin, tuple(env), command.via, command.piped)

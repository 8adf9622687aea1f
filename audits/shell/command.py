"""One simple command: its words, what starts it taken off, and the scripts that it would run in its turn."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename

SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"}
_WRAPPERS = frozenset(
    """
    sudo doas nohup nice ionice setsid stdbuf command builtin exec time timeout env xargs unbuffer busybox
    chronic parallel watch strace ltrace script chroot flock proot fakeroot
    """.split()  # noqa: SIM905 - words read best as words
)
PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_SPLIT = re.compile(r"-[iv0]*S(?P<short>.*)|--split-string(?:=(?P<long>.*))?", re.DOTALL)
_MOST = 8
_MAX_FILE, _MAX_KEPT, _MAX_RUN, _MAX_FILES = 256 << 10, 8 << 20, 32 << 20, 500
_TAKES_VALUE: dict[str, frozenset[str]] = {
    line.split()[0]: frozenset(line.split()[1:])
    for line in """
    sudo -u -g -h -p -C -D -R -T -U -r -t --user --group
    doas -u -C
    env -u -C --unset --chdir
    nice -n
    ionice -c -n -p
    timeout -s -k --signal --kill-after
    xargs -I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file
    parallel -j -P -N -I
    stdbuf -i -o -e
    strace -e -o -p -u -s -E
    ltrace -e -o -p -u -s
    watch -n
    exec -a
    flock -w -E
    time -f -o
    script -c -E
    """.strip().splitlines()
}
"""Which options of what starts a command take a value: without one, the next word would be the command."""


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


class Written:
    """What was written into files, where that stands there in full: the latest few MiB. ``spent`` says that more of it
    was run than is looked at: a short command may run a long script very often."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._size = 0
        self._left = _MAX_RUN
        self.spent = False

    def put(self, path: str, text: str | None) -> None:
        """Keep what a file holds; None where that is not known."""
        path = path.removeprefix("./")
        self._size -= len(self._texts.pop(path, ""))
        if text is not None and len(text) <= _MAX_FILE:
            self._texts[path] = text
            self._size += len(text)
        while self._size > _MAX_KEPT or len(self._texts) > _MAX_FILES:
            self._size -= len(self._texts.pop(next(iter(self._texts))))

    def get(self, path: str) -> str | None:
        """What a file holds that is to be run."""
        text = self._texts.get(path.removeprefix("./"))
        if text is not None and len(text) > self._left:
            self.spent = True
            return None
        self._left -= 0 if text is None else len(text)
        return text


@dataclass
class Script:
    """What a text holds. ``partial`` is why some of it is not in ``commands``; empty if all of it is."""

    commands: list[Command] = field(default_factory=list)
    partial: str = ""
    parsed: int = 0
    """Bytes that were parsed, over all scripts within it."""
    files: Written = field(default_factory=Written)
    """What it, or one before it, wrote into files: it may run them."""


def hidden_in(command: Command) -> Iterator[tuple[tuple[str, ...], str]]:
    """The scripts that a command would run, each with how it is hidden."""
    name, args = command.name, command.args
    if name in SHELLS:
        flag = next((n for n, one in enumerate(args) if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", one)), None)
        script = None if flag is None else next((one for one in args[flag + 1 :] if one != "--"), None)
        if script is not None:
            yield (f"{name} -c",), script
        elif command.stdin is not None and not [one for one in args if not one.startswith("-")]:
            yield (("piped",) if command.piped else ("here-document",)), command.stdin
    elif name == "eval" and args:
        yield ("eval",), " ".join(args)
    elif name == "alias":
        for one in args:
            yield ("alias",), one.partition("=")[2]
    elif name == "trap" and args:
        yield ("trap",), args[0]
    elif name in {"source", "."} and command.stdin is not None:
        yield ("source",), command.stdin
    elif name == "find":
        for number, one in enumerate(args):
            if one in {"-exec", "-execdir", "-ok"}:
                rest = args[number + 1 :]
                ends = [n for n, word in enumerate(rest) if word in {";", "+"}]
                words = rest[: ends[0]] if ends else rest
                for root in roots(command) or ("{}",):
                    yield (), _quoted([word.replace("{}", root) for word in words])
    elif name == "su":
        flag = next((n for n, one in enumerate(args) if one == "-c"), None)
        if flag is not None and flag + 1 < len(args):
            yield ("su -c",), args[flag + 1]


def roots(command: Command) -> tuple[str, ...]:
    """Where ``find`` begins: what it names lies there."""
    found: list[str] = []
    for one in command.args:
        if one in {"-H", "-L", "-P"}:
            continue
        if one.startswith(("-", "(", "!")) or len(found) >= _MOST:
            break
        found.append(one)
    return tuple(found)


def run_from(command: Command, files: Written) -> Command:
    """A command that runs a file of which the text is known, as one that reads that text."""
    at = next((n for n, one in enumerate(command.args, 1) if not one.startswith("-")), 0)
    name = command.name
    if name in SHELLS or name in {"source", "."} or PYTHON.fullmatch(name):
        known = files.get(command.argv[at]) if at else None
        if known is None or any(re.fullmatch(r"-[a-zA-Z]*[cm]", one) for one in command.argv[1:at]):
            return command
        return replace(command, argv=(*command.argv[:at], "-") if PYTHON.fullmatch(name) else (name,), stdin=known)
    known = files.get(command.argv[0]) if command.argv else None
    if known is None:
        return command
    first = known.partition("\n")[0]
    return replace(command, argv=("python3", "-") if "python" in first else ("sh",), stdin=known)


def fed(command: Command, listed: Sequence[str]) -> Command:
    """``xargs`` with the words that it is given: what it reads, or else where a ``find`` before it began."""
    if command.name != "xargs" or (command.stdin is None and not (command.piped and listed)):
        return command
    words = command.stdin.split()[:200] if command.stdin is not None else list(listed)
    return replace(command, argv=(*command.argv, *words), stdin=None)


def _quoted(words: Sequence[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def unwrapped(command: Command) -> Command:
    """A command without what only starts it: ``sudo``, ``env``, ``timeout``, ``xargs`` and their like."""
    argv = list(command.argv)
    env = list(command.env)
    while len(argv) > 1 and basename(argv[0]) in _WRAPPERS:
        name, rest = basename(argv[0]), argv[1:]
        if name == "env" and all(one.startswith("-") and not _SPLIT.fullmatch(one) for one in rest):
            break
        at = 0
        while at < len(rest):
            word = rest[at]
            split = _SPLIT.fullmatch(word) if name == "env" else None
            if split is not None:
                given = split["short"] or split["long"]
                after = rest[at + 1 :] if given else rest[at + 2 :]
                rest[at:] = [*_words(given or "".join(rest[at + 1 : at + 2])), *after]
                continue
            if word == "--":
                at += 1
                break
            if word in _TAKES_VALUE.get(name, ()) and at + 1 < len(rest):
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

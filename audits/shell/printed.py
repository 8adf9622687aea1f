"""What a command prints, where its words and its input say so in full: how a hidden script comes to light."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping

from audits.shell.command import Command, unwrapped


def printed(command: Command) -> str | None:
    """What a command prints, where its words and its input say so in full."""
    command = unwrapped(command)
    maker = _PRINTS.get(command.name)
    if maker is None:
        return None
    try:
        return maker(command)
    except (ValueError, binascii.Error, UnicodeError):
        return None


def _echo(command: Command) -> str | None:
    words = list(command.args)
    escaped = newline = False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        escaped |= "e" in words[0]
        newline |= "n" in words[0]
        words = words[1:]
    text = " ".join(words)
    return (ansi(text) if escaped else text) + ("" if newline else "\n")


def _printf(command: Command) -> str | None:
    args = [one for one in command.args if one != "--"]
    if not args:
        return None
    form, values = ansi(args[0]), args[1:]
    if "%" not in form:
        return form
    if not values or re.sub(r"%[sb]|%%", "", form).count("%"):
        return None
    count = len(re.findall(r"%[sb]", form)) or 1
    said = []
    for at in range(0, len(values), count):
        left = iter(values[at : at + count])
        said.append(
            re.sub(r"%([sb%])", lambda f: "%" if f[1] == "%" else _given(next(left, ""), f[1]), form)  # noqa: B023
        )
    return "".join(said)


def _given(value: str, how: str) -> str:
    return ansi(value) if how == "b" else value


def _cat(command: Command) -> str | None:
    files = [one for one in command.args if not one.startswith("-") or one == "-"]
    return command.stdin if not files or files == ["-"] else None


def _base64_out(command: Command) -> str | None:
    if command.stdin is None:
        return None
    if any(one in {"-d", "-D", "--decode", "-di", "-id"} for one in command.args):
        return base64.b64decode("".join(command.stdin.split()) + "==", validate=False).decode("utf-8", "replace")
    return base64.b64encode(command.stdin.encode()).decode() + "\n"


def _xxd(command: Command) -> str | None:
    if command.stdin is None or not any("r" in one for one in command.args if one.startswith("-")):
        return None
    return bytes.fromhex("".join(re.findall(r"[0-9a-fA-F]", command.stdin))).decode("utf-8", "replace")


def _rev(command: Command) -> str | None:
    return None if command.stdin is None else "\n".join(line[::-1] for line in command.stdin.split("\n"))


def _tr(command: Command) -> str | None:
    if command.stdin is None or len(command.args) != 2:
        return None
    one, other = (_spread(word) for word in command.args)
    if command.args[0] == "-d":
        return command.stdin.translate({ord(ch): None for ch in other})
    if not other or len(one) > 10_000:
        return None
    table = {ord(ch): other[min(at, len(other) - 1)] for at, ch in enumerate(one)}
    return command.stdin.translate(table)


def _spread(text: str) -> str:
    return re.sub(
        r"(.)-(.)", lambda f: "".join(map(chr, range(ord(f[1]), ord(f[2]) + 1))) if f[1] < f[2] else f[0], ansi(text)
    )


_PRINTS: Mapping[str, Callable[[Command], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "base64": _base64_out,
    "xxd": _xxd,
    "rev": _rev,
    "tr": _tr,
}

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def ansi(text: str) -> str:
    """Text with C's escapes undone."""

    def plain(found: re.Match[str]) -> str:
        body = found[1]
        if body[0] in "xuU":
            value = int(body[1:], 16)
            return chr(value) if value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else "?"
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return _SIMPLE.get(body, body)

    return re.sub(
        r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,4}|.)", plain, text, flags=re.DOTALL
    )

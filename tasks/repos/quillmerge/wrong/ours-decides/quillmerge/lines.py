"""Texts as lists of lines with what ends them, and back."""

import re
from dataclasses import dataclass
from typing import Any

LF, CRLF = "\n", "\r\n"

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


@dataclass(frozen=True)
class Document:
    """A text. ``final`` says whether the last line is ended; None if there is no line."""

    lines: list[str]
    endings: frozenset[str]
    final: bool | None

    @property
    def mixed(self) -> bool:
        """Whether its lines end in both ways."""
        return len(self.endings) > 1

    @property
    def ending(self) -> str | None:
        """How its lines end; None if no line is ended."""
        return next(iter(self.endings), None)

    def plain(self) -> list[str]:
        """The lines without their endings."""
        return [line.removesuffix(self.ending or "") for line in self.lines]


def read(text: str) -> Document:
    """Take a text apart."""
    lines = _LINE.findall(text)
    endings = frozenset(CRLF if line.endswith(CRLF) else LF for line in lines if line.endswith(LF))
    return Document(lines, endings, text.endswith(LF) if text else None)


def merged(base: Any, ours: Any, theirs: Any) -> Any:
    """A property of a text, merged: what a side changed counts, ours first; None is no opinion."""
    if ours is None or ours == base:
        return theirs if theirs is not None else base
    return ours


def join(lines: list[str], ending: str, final: bool) -> str:
    """A text from lines without endings."""
    text = ending.join(lines)
    return text + ending if lines and final else text

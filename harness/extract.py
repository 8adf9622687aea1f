"""From a worker's reply to its answer: the last fenced block of the right kind.

The reply is hostile text and is read as CommonMark, by its block rules alone: a fence may stand in a list or a
quotation, a longer fence may hold shorter ones, and one that is never closed ends with the text around it. HTML is
taken for text, so that a block right behind ``<answer>`` is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from markdown_it import MarkdownIt

PYTHON_WORDS = frozenset({"py", "python", "python3", ""})
"""Info words of a block that holds a module; the empty one is that of a block without any."""
DIFF_WORDS = frozenset({"diff", "patch"})
"""Info words of a block that holds a unified diff."""

MAX_REPLY_BYTES = 256 << 10
"""A longer reply holds no answer: reading takes up to 18 s a MiB, if somebody makes it, and an attempt ends within ten
seconds of its limit."""


class Rung(StrEnum):
    """Where an answer was found; the first that holds one counts."""

    REPLY = "reply"
    """A fenced block of what the solver printed."""
    WORKSPACE = "workspace"
    """The files that the solver left."""


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block: the first word behind the opening fence in lower case, and the lines between the fences."""

    word: str
    content: bytes


def last_block(reply: bytes, words: frozenset[str]) -> bytes | None:
    """The content of the last block whose info word is one of *words*; None if there is none or only blanks in it.

    An empty block is passed over for an earlier one that holds something.
    """
    found = [fence.content for fence in fences(reply) if fence.word in words and fence.content.strip()]
    return found[-1] if found else None


def fences(reply: bytes) -> Iterator[Fence]:
    """The fenced blocks of a reply, in order.

    Bytes that are not UTF-8 come through unchanged. Where the opening fence's line ends in CR LF, so does the text as
    a whole, and the block's lines end in LF; where it ends in LF, a CR at the end of a line belongs to the content.
    """
    if len(reply) > MAX_REPLY_BYTES or (b"```" not in reply and b"~~~" not in reply):
        return
    lines = reply.decode("utf-8", "surrogateescape").split("\n")
    plain = "\n".join(line.removesuffix("\r") for line in lines)
    for token in _READER.parse(plain):
        if token.type != "fence" or token.map is None:
            continue
        start = token.map[0]
        content = token.content.split("\n")
        if not lines[start].endswith("\r"):
            for number, line in enumerate(lines[start + 1 : start + len(content)]):
                content[number] += "\r" if line.endswith("\r") else ""
        info = token.info.split()
        yield Fence(info[0].lower() if info else "", "\n".join(content).encode("utf-8", "surrogateescape"))


def _reader() -> MarkdownIt:
    reader = MarkdownIt("zero")
    reader.enable(["blockquote", "code", "fence", "heading", "hr", "list"])
    reader.core.ruler.enableOnly(["block"])
    return reader


_READER = _reader()

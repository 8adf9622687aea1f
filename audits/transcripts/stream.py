"""A log of any size and any form, read once from front to back: its objects as they come, and what could not be read.

Memory stays flat: a line or an item of more than :data:`MAX_ITEM` bytes is not parsed and counts as unread. Nothing
is raised for what a log holds; a log that is cut, broken, of a wrong encoding or of an unknown form is read as far as
it goes.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

CHUNK = 256 << 10
MAX_ITEM = 64 << 20
_HEAD = 1 << 20
_LISTS = {"steps", "messages", "trajectory", "history"}
"""Lists whose items are a log's steps. ``history`` repeats what ``trajectory`` has, where both are there."""
GUESSED = ("command", "cmd", "script", "code", "url", "action")
"""What a command may be called where nothing else is known of a form."""
LOOSE = "?"
"""``within`` of what is so called outside of the known lists."""
_BARE_UTF16 = {b"{\0": "utf-16-le", b"[\0": "utf-16-le", b"\0{": "utf-16-be", b"\0[": "utf-16-be"}
"""How JSON begins in it without a mark."""
_STUCK = 8 << 20
"""Bytes without one event of the parser's: one string that long is no log."""

Read = Callable[[int], bytes]


@dataclass(frozen=True)
class Item:
    """One object: ``number`` is its line, or its place in its list, from 1; ``within`` the list's name."""

    number: int
    within: str
    value: dict[str, Any]


class Log:
    """Iterates over a log's objects, once. *each* sees all bytes on the way, as UTF-8 where that is what they mean.

    ``problem`` says afterwards why something was not read; empty if everything was.
    """

    def __init__(self, read: Read, each: Callable[[bytes], None]) -> None:
        self._read = read
        self._each = each
        self._decoder: codecs.IncrementalDecoder | None = None
        self._lost = 0
        self._why: dict[str, None] = {}
        self.size = 0

    @property
    def problem(self) -> str:
        """What is known to be missing, in one line."""
        lost = (f"{self._lost} pieces could not be read",) if self._lost else ()
        return "; ".join((*lost, *self._why))

    def lack(self, why: str) -> None:
        """Something is known to be missing."""
        if len(self._why) < 8:
            self._why[why] = None

    def __iter__(self) -> Iterator[Item]:
        head = self._more(_HEAD)
        if not head.strip():
            self.lack("it is empty")
            return
        yield from self._lines(head) if _by_line(head) else self._document(head)

    def _more(self, size: int = CHUNK) -> bytes:
        """The next bytes as UTF-8; empty at the end."""
        parts: list[bytes] = []
        left = size
        while left > 0:
            raw = self._read(left)
            if not raw:
                break
            first = self.size == 0 and not parts
            self.size += len(raw)
            left -= len(raw)
            parts.append(self._plain(raw, first=first))
        data = b"".join(parts)
        if data:
            self._each(data)
        return data

    def _plain(self, raw: bytes, *, first: bool) -> bytes:
        if first:
            for mark, name in (
                (codecs.BOM_UTF32_LE, "utf-32"),
                (codecs.BOM_UTF16_LE, "utf-16"),
                (codecs.BOM_UTF16_BE, "utf-16"),
            ):
                if raw.startswith(mark):
                    self.lack(f"it is {name.upper()}, not UTF-8")
                    self._decoder = codecs.getincrementaldecoder(name)("replace")
                    break
            if self._decoder is None and (found := _BARE_UTF16.get(raw[:2])) is not None:
                self.lack("it is UTF-16, not UTF-8")
                self._decoder = codecs.getincrementaldecoder(found)("replace")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        return raw if self._decoder is None else self._decoder.decode(raw).encode("utf-8", "replace")

    # ------------------------------------------------------------------------------------------------------------ lines

    def _lines(self, head: bytes) -> Iterator[Item]:
        held, number, skipping = head, 0, False
        while True:
            *whole, held = held.split(b"\n")
            for line in whole:
                number += 1
                if skipping:
                    skipping = False
                elif line.strip():
                    yield from self._line(number, line)
            if len(held) > MAX_ITEM and not skipping:
                self.lack(f"line {number + 1} has more than {MAX_ITEM >> 20} MiB")
                skipping = True
            if skipping:
                held = b""
            more = self._pieces()
            if not more:
                break
            held += more
        if held.strip() and not skipping:
            yield from self._line(number + 1, held)

    def _pieces(self) -> bytes:
        """Enough to hold at least one line's end, so that no long line is copied once a chunk."""
        parts = []
        size = 0
        while more := self._more():
            parts.append(more)
            size += len(more)
            if b"\n" in more or size > MAX_ITEM:
                break
        return b"".join(parts)

    def _line(self, number: int, line: bytes) -> Iterator[Item]:
        value = self._value(line)
        if isinstance(value, dict):
            yield Item(number, "", value)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    yield Item(number, "", one)
        else:
            self._lost += 1

    def _value(self, raw: bytes) -> Any:
        try:
            return json.loads(raw)
        except UnicodeDecodeError:
            self.lack("it is not UTF-8")
        except (ValueError, RecursionError):
            return None
        try:
            return json.loads(raw.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None

    # --------------------------------------------------------------------------------------------------------- document

    def _document(self, head: bytes) -> Iterator[Item]:
        import ijson  # slow to load

        events = ijson.sendable_list()
        parser = ijson.basic_parse_coro(events, use_float=True)
        builder = _Builder()
        chunk, quiet = head, 0
        try:
            while chunk:
                for start in range(0, len(chunk), CHUNK):
                    piece = chunk[start : start + CHUNK]
                    parser.send(piece)
                    quiet = 0 if events else quiet + len(piece)
                    yield from builder.take(events)
                    events.clear()
                    if quiet > _STUCK or builder.weight > MAX_ITEM:
                        raise _TooLarge
                chunk = self._more()
            parser.close()
            yield from builder.take(events)
        except (ijson.JSONError, UnicodeDecodeError, ValueError, OverflowError, RecursionError) as error:
            yield from builder.take(events)
            given = error.args[0] if error.args else ""
            words = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(error)
            said = words.splitlines()[0][:80].strip() if words.strip() else type(error).__name__
            self.lack(f"it is no whole JSON ({_printable(said)})")
        except _TooLarge:
            self.lack(f"one of its parts has more than {_STUCK >> 20} MiB")
        while self._more():
            pass


class _TooLarge(Exception):
    """A part that is not held in memory."""


class _Builder:
    """Objects out of a parser's events: items of the known lists, or of a list that is the whole."""

    def __init__(self) -> None:
        self._places: list[tuple[str, str]] = []
        """For each open container: ``map`` or ``array``, and the key that it is under."""
        self._key = ""
        self._stack: list[Any] = []
        self._keys: list[str] = []
        self._item = ""
        self._numbers: dict[str, int] = {}
        self._depth = 0
        self.weight = 0

    def take(self, events: list[tuple[str, Any]]) -> Iterator[Item]:
        """The objects that these events complete."""
        for event, value in events:
            if self._stack:
                done = self._build(event, value)
                if done is not None:
                    yield self._numbered(self._item, done)
            elif event == "string" and self._key in GUESSED and self._places and self._places[-1][0] == "map":
                yield self._numbered(LOOSE, {self._key: value})
            else:
                self._walk(event, value)

    def _numbered(self, within: str, value: dict[str, Any]) -> Item:
        self._numbers[within] = self._numbers.get(within, 0) + 1
        return Item(self._numbers[within], within, value)

    def _walk(self, event: str, value: Any) -> None:
        match event:
            case "map_key":
                self._key = value
            case "start_map":
                kind, key = self._places[-1] if self._places else ("", "")
                if kind == "array" and (key in _LISTS or len(self._places) == 1):
                    self._item = key
                    self._stack, self._keys, self.weight = [{}], [], 0
                else:
                    self._places.append(("map", self._key))
            case "start_array":
                self._places.append(("array", self._key if self._places else ""))
            case "end_map" | "end_array" if self._places:
                self._places.pop()

    def _build(self, event: str, value: Any) -> dict[str, Any] | None:
        match event:
            case "map_key":
                self._keys.append(value)
                self.weight += len(value) + 64
            case "start_map" | "start_array":
                new: Any = {} if event == "start_map" else []
                self.weight += 64
                self._put(new)
                self._stack.append(new)
            case "end_map" | "end_array":
                done = self._stack.pop()
                if not self._stack and isinstance(done, dict):
                    self.weight = 0
                    return done
            case _:
                self.weight += 64 + (len(value) if isinstance(value, str) else 0)
                self._put(value)
        return None

    def _put(self, value: Any) -> None:
        top = self._stack[-1]
        if isinstance(top, dict):
            top[self._keys.pop()] = value
        else:
            top.append(value)


def _by_line(head: bytes) -> bool:
    """Whether a log's beginning looks like JSON lines: most of its first lines are objects, each whole."""
    lines = [line for line in head.split(b"\n")[:40] if line.strip()]
    if len(head) >= _HEAD and len(lines) > 1:
        lines = lines[:-1]  # it may be cut here, and not there
    objects = sum(_is_object(line) for line in lines)
    if len(lines) == 1:
        value = _try(lines[0])
        return isinstance(value, dict) and not (_LISTS & value.keys()) and ("type" in value or "role" in value)
    return objects * 2 >= len(lines)


def _is_object(line: bytes) -> bool:
    stripped = line.strip()
    return stripped.startswith(b"{") and len(stripped) > 2 and isinstance(_try(stripped), dict)


def _try(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _printable(text: str) -> str:
    return re.sub(r"[^ -~]", "?", text)

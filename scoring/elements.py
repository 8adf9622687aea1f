"""The elements of a list in a card's bytes: strict canonical JSON, read a window at a time."""

from __future__ import annotations

import codecs
import json
import mmap
from collections.abc import Callable, Iterator
from typing import Any

from harness.digest import MAX_SAFE_INTEGER, canonical
from harness.errors import VerifyError
from harness.untrusted import clean_text

REMEDY = "put back a copy of the card; `trialbox card verify` says what was changed"
_NOT_CANONICAL = "is not in canonical form"
_WINDOW = 1 << 22
_AT_ONCE = 32
"""Elements that are written again in one go, to be compared with their text."""


def elements(data: bytes | mmap.mmap, start: int, end: int, where: str) -> Iterator[Any]:
    """The elements between a bracket or comma at *start* and the one that *end* is just behind, as plain values.

    Raises:
        VerifyError: one is no JSON, or is not in canonical form: whitespace, order or repetition of keys, a float, an
            integer beyond 2^53 - 1.
    """
    try:
        yield from _elements(data, start, end, where)
    except (ValueError, RecursionError) as error:  # no UTF-8, a number that has no place here, or too deep
        raise VerifyError(where, f"{_NOT_CANONICAL} ({clean_text(str(error))})", REMEDY) from error


def _elements(data: bytes | mmap.mmap, start: int, end: int, where: str) -> Iterator[Any]:
    at, number, window = start + 1, 0, _WINDOW
    last = data[end - 1 : end].decode("latin-1")
    while at < end and (end - start > 2 or data[start:end] != b"[]"):
        text = codecs.getincrementaldecoder("utf-8")().decode(data[at : min(at + window, end)])
        write, place = _encode if text.isascii() else _canonical, 0
        while place < len(text):
            values: list[Any] = []
            begin = place
            while place < len(text) and len(values) < _AT_ONCE:
                try:
                    value, after = _DECODER.raw_decode(text, place)
                except json.JSONDecodeError:
                    break
                if text[after : after + 1] != "," and (
                    after + 1 < len(text) or at + window < end or text[after:] != last
                ):
                    break
                values.append(value)
                place = after + 1
            if not values:
                break
            if write(values)[1:-1] != text[begin : place - 1]:
                raise VerifyError(f"{where}[{number + _odd(values, text[begin:place], write)}]", _NOT_CANONICAL, REMEDY)
            yield from values
            number += len(values)
        if place == 0:
            if at + window >= end:
                raise VerifyError(f"{where}[{number}]", "is not JSON", REMEDY)
            window *= 2
        at += place if write is _encode else len(text[:place].encode())


def _odd(values: list[Any], text: str, write: Callable[[Any], str]) -> int:
    """Which of some elements is the first that is written in another way."""
    place = 0
    for number, value in enumerate(values):
        exact = write(value)
        if text[place : place + len(exact)] != exact:
            return number
        place += len(exact) + 1
    return len(values) - 1


def _canonical(value: Any) -> str:
    """The canonical form. In plain ASCII, and with no float and no large integer, the fast encoder writes the same."""
    return canonical(value).decode()


def _integer(text: str) -> int:
    if len(text) > 15 and (len(text) > 17 or abs(int(text)) > MAX_SAFE_INTEGER):
        raise ValueError(f"{text[:24]} is beyond 2^53 - 1")
    return int(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} has no place on a card")


_DECODER = json.JSONDecoder(parse_float=_refuse, parse_int=_integer, parse_constant=_refuse)
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode

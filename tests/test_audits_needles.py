"""Secrets in any encoding, at any place of any stream: found. In noise: not found."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.needles import Needle, Scanner, digits_of, scan
from audits.records import Kind
from audits.streams import texts_of

SECRET = random.Random(8).randbytes(16).hex()
NEEDLE = Needle(Kind.NONCE, "nonce", SECRET)
OTHERS = tuple(Needle(Kind.NONCE, str(n), random.Random(n).randbytes(16).hex()) for n in range(20, 26))


def _each(form: str) -> Callable[[bytes], bytes]:
    return lambda text: "".join(form.format(c=c) for c in text).encode()


def _some(text: bytes, form: str = "%{c:02X}") -> bytes:
    """Every third character as an escape, as a careless encoder leaves it."""
    return "".join(form.format(c=c) if n % 3 == 0 else chr(c) for n, c in enumerate(text)).encode()


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "capitals": bytes.upper,
    "reversed": lambda text: text[::-1],
    "base64": base64.b64encode,
    "base64, second alignment": lambda text: base64.b64encode(b"x" + text),
    "base64, third alignment": lambda text: base64.b64encode(b"xy" + text + b"z"),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(b"?>" + text),
    "base64 of the reversed": lambda text: base64.b64encode(text[::-1]),
    "base64, reversed": lambda text: base64.b64encode(text)[::-1],
    "base64, twice": lambda text: base64.b64encode(base64.b64encode(text)),
    "base64 over lines": base64.encodebytes,
    "base64 over escaped lines": lambda text: b"\\n".join(_cut(base64.b64encode(text), 9)),
    "base64 of its bytes": lambda text: base64.b64encode(bytes.fromhex(text.decode())),
    "hex": lambda text: text.hex().encode(),
    "hex in capitals": lambda text: text.hex().upper().encode(),
    "hex, reversed": lambda text: text.hex().encode()[::-1],
    "hex with colons": lambda text: text.hex(":").encode(),
    "hex of base64": lambda text: base64.b64encode(text).hex().encode(),
    "a dump": lambda text: b"\n".join(one.hex(" ").encode() for one in _cut(text, 8)),
    "url": _each("%{c:02x}"),
    "url in part": _some,
    "url, twice": _each("%25{c:02X}"),
    "unicode escapes": _each("\\u00{c:02x}"),
    "escaped unicode escapes": _each("\\\\u00{c:02x}"),
    "entities": _each("&#{c};"),
    "hexadecimal entities": _each("&#x{c:x};"),
    "octal": _each("\\{c:03o}"),
    "byte escapes": _each("\\x{c:02x}"),
    "concatenation": lambda text: b'" + "'.join(_cut(text, 5)),
    "two bytes a letter": lambda text: text.decode().encode("utf-16-le"),
    "one a line": lambda text: b"\n".join(_cut(text, 1)),
}


def _cut(text: bytes, size: int) -> list[bytes]:
    return [text[n : n + size] for n in range(0, len(text), size)]


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=25)
@given(data=st.data())
def test_hiding_by_any_encoding_is_found_however_the_stream_is_cut(name: str, data: st.DataObject) -> None:
    hidden = ENCODINGS[name](SECRET.encode())
    before, after = data.draw(st.binary(max_size=80)), data.draw(st.binary(max_size=80))
    body = before + b"<" + hidden + b">" + after
    scanner = Scanner([*OTHERS, NEEDLE])
    at = 0
    while at < len(body):
        size = data.draw(st.integers(1, 60))
        scanner.feed(body[at : at + size])
        at += size
    assert list(scanner.close()) == [NEEDLE]


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=200), max_size=5))
def test_noise_holds_nothing_and_raises_nothing(pieces: list[bytes]) -> None:
    assert scan(pieces, [NEEDLE, *OTHERS]) == {}


def test_a_stream_of_other_digits_and_without_secrets_holds_nothing() -> None:
    noise = random.Random(9).randbytes(1 << 20).hex().encode()
    assert scan(noise, [NEEDLE, *OTHERS]) == {}
    assert scan(noise, []) == {}
    assert scan(SECRET.encode(), [NEEDLE])[NEEDLE].form == "plain"
    assert scan(b"a" * (3 << 20) + SECRET.encode(), [NEEDLE])[NEEDLE].offset == 3 << 20


def test_only_digits_enough_are_a_secret() -> None:
    for wrong in ("abc", SECRET.upper(), "g" * 32, ""):
        with pytest.raises(ValueError, match="24 digits"):
            Needle(Kind.NONCE, "x", wrong)
    assert digits_of(f"trialbox-public-{SECRET}") == SECRET
    assert digits_of("no canary") == ""


EVENTS: dict[str, Callable[[str], object]] = {
    "anthropic text": lambda piece: {"type": "content_block_delta", "index": 0, "delta": {"text": piece}},
    "anthropic input": lambda piece: {"type": "content_block_delta", "index": 1, "delta": {"partial_json": piece}},
    "responses": lambda piece: {"type": "response.output_text.delta", "delta": piece, "output_index": 0},
    "chat": lambda piece: {"choices": [{"index": 0, "delta": {"content": piece}}]},
    "chat tool": lambda piece: {
        "choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]
    },
    "gemini": lambda piece: {"candidates": [{"content": {"parts": [{"text": piece}]}}]},
    "unknown": lambda piece: {"deep": {"er": [{"piece": piece}]}},
}


@pytest.mark.parametrize("wire", EVENTS)
@pytest.mark.parametrize("form", ["plain", "base64", "hex", "reversed", "url"])
def test_a_secret_that_is_spread_over_events_is_found(wire: str, form: str) -> None:
    hidden = ENCODINGS[form](SECRET.encode()).decode()
    pieces = ["x", *(hidden[n : n + 3] for n in range(0, len(hidden), 3)), "y"]
    events = [json.dumps(EVENTS[wire](piece)) for piece in pieces]
    sse = "".join(f"event: e\ndata: {one}\n\n: ping\n\n" for one in events).encode()
    for body in (sse, "\n".join(events).encode(), ("[" + ",".join(events) + "]").encode()):
        assert any(NEEDLE in scan(text, [NEEDLE]) for text in texts_of(body)), body[:80]


@settings(max_examples=50)
@given(st.binary(max_size=400))
def test_a_body_of_any_bytes_raises_nothing(body: bytes) -> None:
    list(texts_of(body))
    list(texts_of(b"data: " + body + b"\n\n"))

"""Usage off the wire: work that no answer can push beyond its bounds, and what a client sees of the metering."""

from __future__ import annotations

import gzip
import json
import zlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.gateway import decode, meter, sse
from harness.gateway.meter import Meter
from harness.gateway.records import Api, Completeness
from harness.gateway.wire import reading
from harness.gateway.wire.chat import DropUsage
from tests.gateway_answers import (
    BODIES,
    CHAT,
    STREAMS,
    chat_stream,
    events,
    metered,
)

# ----------------------------------------------------------------------------------------------- bounded work


def test_a_large_body_is_not_held(monkeypatch):
    monkeypatch.setattr(meter, "MAX_BODY", 1000)
    one = Meter(reading(Api.CHAT))
    body = json.dumps(BODIES[Api.CHAT] | {"padding": "x" * 5000}).encode()
    for at in range(0, len(body), 100):
        one.feed(body[at : at + 100])
        assert len(one._body) <= 1000
    found = one.close().usage
    assert (found.completeness, found.input) == (Completeness.USAGE_INCOMPLETE, None)


def test_a_large_event_is_not_held_and_the_next_is_read():
    splitter = sse.Splitter(limit=100)
    frames = [one for _ in range(50) for one in splitter.feed(b"data: " + b"x" * 50)]
    assert all(not one.whole for one in frames) and max(len(one.raw) for one in frames) < 300
    *rest, last = splitter.feed(b"\n\ndata: {}\n\n")
    assert last == (b"data: {}\n\n", True) and not any(one.whole for one in rest)


def test_a_gzip_bomb_stops_at_the_bound():
    bomb = gzip.compress(b"data: 1\n\n" * 2_000_000, mtime=0)
    decoder = decode.Decoder("gzip", limit=1 << 20)
    sizes = [len(piece) for piece in decoder.feed(bomb)]
    assert max(sizes) <= decode.PIECE and sum(sizes) <= 1 << 20
    assert decoder.trouble == "it is over 1 MiB"
    assert list(decoder.feed(b"more")) == []


@given(parts=st.lists(st.binary(max_size=50), min_size=1, max_size=4), cut_at=st.integers(0, 200))
def test_gzip_members_strung_together_decode_to_their_sum(parts, cut_at):
    body = b"".join(gzip.compress(part, mtime=0) for part in parts)
    decoder = decode.Decoder("gzip")
    assert b"".join([*decoder.feed(body[:cut_at]), *decoder.feed(body[cut_at:])]) == b"".join(parts)


@pytest.mark.parametrize("size", [decode.PIECE, decode.PIECE + 1, 3 * decode.PIECE])
def test_what_a_full_piece_leaves_behind_is_read(size):
    """Also while the stream is open: what was flushed must not wait for the next bytes, which may never come."""
    stream = zlib.compressobj(9, wbits=31)
    body = stream.compress(b"\0" * size) + stream.flush(zlib.Z_SYNC_FLUSH)
    for at in range(len(body) - 12, len(body) + 1):
        decoder = decode.Decoder("gzip")
        read = [*decoder.feed(body[:at]), *decoder.feed(body[at:])]
        assert sum(map(len, read)) == size
        whole = zlib.decompressobj(31).decompress(body[:at])
        assert sum(map(len, decode.Decoder("gzip").feed(body[:at]))) == len(whole)


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"a":' * 100_000, b'{"usage":[' + b"[]," * 1_000_000 + b"1]}"])
def test_a_deep_or_crowded_body_is_incomplete(body):
    assert metered(Api.CHAT, body).usage.completeness is Completeness.USAGE_INCOMPLETE


def test_a_coding_that_is_not_read_is_named():
    found = metered(Api.CHAT, STREAMS[Api.CHAT], "br").usage
    assert "coding br" in found.reason and found.completeness is Completeness.USAGE_INCOMPLETE


# ------------------------------------------------------------------------------------ the client's own view


@given(cuts=st.lists(st.integers(0, 10**4), max_size=20))
@settings(max_examples=50)
def test_the_usage_chunk_is_dropped_for_who_did_not_ask(cuts):
    body = STREAMS[Api.CHAT]
    edges = [0, *sorted(one % (len(body) + 1) for one in cuts), len(body)]
    drop = DropUsage()
    passed = b"".join(drop.feed(body[a:b]) for a, b in pairwise(edges)) + drop.close()
    assert passed == chat_stream(None)


def test_a_chunk_that_has_more_than_usage_passes():
    body = events({"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": CHAT})
    drop = DropUsage()
    assert drop.feed(body) + drop.close() == body


def test_a_stream_without_a_usage_chunk_passes_byte_for_byte():
    body = chat_stream(None).replace(b"\n", b"\r\n") + b": late\r\n"
    drop = DropUsage()
    assert drop.feed(body) + drop.close() == body

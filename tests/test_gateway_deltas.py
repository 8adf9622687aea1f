"""Bodies of a conversation as what each adds: the same bytes come back, and room grows with turns, not their square."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import VerifyError
from harness.gateway.deltas import DELTA_TYPE, Deltas, Reader
from harness.gateway.records import Api
from harness.records import BlobRef
from harness.references import blob_refs
from harness.store import LocalStore
from harness.traffic import read_trace
from tests.gateway_rig import BODIES, MODEL, PATHS, gateway_rig, upstream_server

KIND = "application/json"


def conversation(turns: int, seed: int = 1, nonce: bool = True) -> list[bytes]:
    """What a client sends: a moving mark in the last message, a nonce at the front, its tools behind."""
    rng = random.Random(seed)
    tools = [{"name": f"tool{n}", "description": "does " * 60, "schema": {"type": "object"}} for n in range(12)]
    messages: list[dict[str, object]] = []
    bodies = []
    for turn in range(turns):
        messages += [
            {"role": role, "content": [{"type": "text", "text": rng.randbytes(300).hex()}]}
            for role in ("user", "model")
        ]
        marked = [*messages[:-1], {**messages[-1], "cache_control": {"type": "ephemeral"}}]
        body = {"model": "m", "nonce": turn if nonce else 0, "messages": marked, "tools": tools}
        bodies.append(json.dumps(body).encode())
    return bodies


def keep_all(folder: Path, bodies: list[bytes]) -> tuple[LocalStore, list[BlobRef]]:
    store = LocalStore(folder)
    deltas = Deltas(store)
    refs = []
    for body in bodies:
        refs.append(deltas.keep(body, KIND))
        deltas.written()
    return store, refs


def test_a_long_conversation_takes_the_room_of_its_turns(tmp_path):
    bodies = conversation(120)
    store, refs = keep_all(tmp_path, bodies)
    taken = sum(ref.size for ref in refs)
    assert taken < 3 * len(bodies[-1]) and taken * 10 < sum(map(len, bodies))
    reader = Reader(store)
    assert [reader.get(ref) for ref in refs] == bodies
    assert Reader(store).get(refs[-1]) == bodies[-1], "also without the ones before it"
    assert refs[0].media_type == KIND and {ref.media_type for ref in refs[1:]} == {DELTA_TYPE}


def test_questions_between_those_of_a_conversation_do_not_disturb_it(tmp_path):
    bodies = conversation(40)
    mixed = [one for number, body in enumerate(bodies) for one in (body, b'{"title": %d}' % number)]
    store, refs = keep_all(tmp_path, mixed)
    assert sum(ref.size for ref in refs) < 3 * len(bodies[-1])
    reader = Reader(store)
    assert [reader.get(ref) for ref in refs] == mixed


def test_a_body_that_no_line_names_is_no_base(tmp_path):
    store = LocalStore(tmp_path)
    deltas = Deltas(store)
    first, second = conversation(2)
    deltas.keep(first, KIND)
    assert deltas.keep(second, KIND).media_type == KIND


_PIECE = st.sampled_from([b"},", b'{"a":1},' * 40, b"x" * 300, b'{"role":"user"},', b"\x00\xff", b"y" * 999 + b"},"])


@given(st.lists(st.lists(_PIECE | st.binary(max_size=400), max_size=12).map(b"".join), max_size=8))
def test_whatever_is_kept_comes_back(tmp_path_factory, bodies):
    store, refs = keep_all(tmp_path_factory.mktemp("deltas"), bodies)
    reader = Reader(store)
    assert [reader.get(ref) for ref in refs] == bodies
    assert all(ref.size <= max(len(body), 1) for ref, body in zip(refs, bodies, strict=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda head: {**head, "size": head["size"] + 1},
        lambda head: {**head, "size": 1 << 40, "steps": [[1 << 40]]},
        lambda head: {
            **head,
            "steps": [[5, size] if len(step) == 2 else step for step in head["steps"] for size in step[-1:]],
        },
        lambda head: {**head, "steps": [[-1, 5]]},
        lambda head: {**head, "digest": "sha256:" + "0" * 64},
        lambda head: {**head, "base": {**head["base"], "digest": "sha256:" + "0" * 64}},
        lambda _: {"no": "recipe"},
    ],
    ids=["size", "absurd", "places", "before", "digest", "base", "none"],
)
def test_one_that_was_changed_is_refused(tmp_path, change):
    store, refs = keep_all(tmp_path, conversation(3))
    head, _, new = store.get(refs[-1].digest).partition(b"\n")
    forged = json.dumps(change(json.loads(head))).encode() + b"\n" + new
    with pytest.raises(VerifyError):
        Reader(store).get(store.put(forged, DELTA_TYPE))


def test_through_the_gateway_each_body_is_read_back_and_every_base_is_one_of_the_trace(tmp_path):
    bodies = [
        {**BODIES[Api.CHAT], "messages": json.loads(body)["messages"], "model": MODEL} for body in conversation(12)
    ]
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        for body in bodies:
            assert door.send("POST", PATHS[Api.CHAT], body).status == 200
        closed, lines = door.close()
        reader = Reader(rig.store)
        assert [json.loads(reader.get(line.sent)) for line in lines] == bodies
        assert [json.loads(one.body) for one in fake.seen] == bodies
        named = {ref.digest for line in read_trace(rig.store, closed.trace) for _, ref in blob_refs(line)}
        deltas = [line.sent for line in lines if line.sent.media_type == DELTA_TYPE]
        bases = {json.loads(rig.store.get(ref.digest).partition(b"\n")[0])["base"]["digest"] for ref in deltas}
        assert len(deltas) >= 9 and bases <= named
        assert sum(ref.size for line in lines for _, ref in blob_refs(line)) < 3 * len(fake.seen[-1].body)

"""What a solver can make its gateway hold, hide and count: bodies, connections, words of its own, ids of answers."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest
from aiohttp import web

from harness.gateway.records import Api
from harness.gateway.room import MAX_CONNECTIONS, SMALL, Room, Share
from tests.gateway_rig import ANSWERS, BODIES, MODEL, PATHS, DoorRig, connected, gateway_rig, upstream_server


def raw(rig: DoorRig, data: bytes) -> bytes:
    """What a connection gets for these bytes."""
    one = connected(rig.door.folder / "gateway.sock", 20)
    with one:
        one.sendall(data)
        found = b""
        while chunk := one.recv(65536):
            found += chunk
    return found


def test_room_is_shared_and_given_back() -> None:
    async def play() -> None:
        room = Room(3 * SMALL)
        one, two, three = Share(room), Share(room), Share(room)
        await one.begin(2 * SMALL)
        waiting = asyncio.ensure_future(two.begin(2 * SMALL))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert three.holds(SMALL) and not three.holds(SMALL + 1), "what states no length does not wait"
        one.end()
        await waiting
        two.end()
        two.end()
        assert room.take(3 * SMALL)

    asyncio.run(play())


def test_many_large_bodies_wait_for_each_other_and_all_arrive(tmp_path: Path) -> None:
    most, now = 0, 0

    async def play(_: web.BaseRequest) -> web.StreamResponse:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.3)
        now -= 1
        return web.json_response(ANSWERS[Api.CHAT])

    with upstream_server(play) as upstream, gateway_rig(tmp_path) as rig:
        door = rig.door(upstream.url)
        body = json.dumps({**BODIES[Api.CHAT], "messages": [{"role": "user", "content": "x" * (20 << 20)}]}).encode()
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: door.send("POST", PATHS[Api.CHAT], body).status, range(8)))
        assert replies == [200] * 8
        assert most <= 4, "96 MiB hold four of them"


def test_a_solver_s_connections_are_bounded_and_leave_other_attempts_alone(tmp_path: Path) -> None:
    with upstream_server() as upstream, gateway_rig(tmp_path) as rig:
        greedy, other = rig.door(upstream.url), rig.door(upstream.url)
        held = []
        for _ in range(MAX_CONNECTIONS + 20):
            while True:
                try:
                    held.append(connected(greedy.door.folder / "gateway.sock", 20))
                    break
                except BlockingIOError:
                    pass
        assert all(one.recv(1) == b"" for one in held[-10:]), "the last ones are hung up on"
        assert other.ask(Api.CHAT).status == 200
        for one in held:
            one.close()


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
        b"content-length: 5\r\ncontent-length: 6\r\n",
        b"host: another\r\n",
        b"x: " + b"a" * 100_000 + b"\r\n",
    ],
)
def test_what_is_no_plain_http_is_a_line_of_the_trace(tmp_path: Path, head: bytes) -> None:
    with upstream_server() as upstream, gateway_rig(tmp_path) as rig:
        door = rig.door(upstream.url)
        answer = raw(door, b"POST /v1/messages HTTP/1.1\r\nhost: gateway\r\n" + head + b"\r\nhello")
        assert answer.split()[1] == b"400" and b"aiohttp" not in answer
        assert raw(door, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").split()[1] == b"400"
        closed, lines = door.close()
        assert [line.denial and line.denial.rule for line in lines] == ["unreadable", "unreadable"]
        assert closed.traffic.denied == 2
        assert not upstream.seen


def test_a_head_that_is_never_whole_is_hung_up_on_and_an_idle_or_slow_client_is_not(tmp_path: Path) -> None:
    with upstream_server() as upstream, gateway_rig(tmp_path, head_s=2) as rig:
        door = rig.door(upstream.url)
        body = json.dumps(BODIES[Api.CHAT]).encode()
        head = f"POST {PATHS[Api.CHAT]} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {door.door.token}\r\n"
        whole = f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        socket = door.door.folder / "gateway.sock"
        with connected(socket, 20) as stuck, connected(socket, 20) as slow:
            stuck.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: gate")
            for part in (b"", whole + body[:9], body[9:], whole[:40], whole[40:] + body[:1], body[1:]):
                slow.sendall(part)
                sleep(1.5 if part in (whole[:40], body[9:]) else 2.5)
            assert stuck.recv(1) == b""
            assert slow.recv(1 << 20).count(b"HTTP/1.1 200") == 2
        _, lines = door.close()
        assert [line.status for line in lines] == [400, 200, 200]
        assert lines[0].denial is not None and "after 2 s" in lines[0].denial.detail


def test_a_word_given_as_a_key_hides_nothing_in_what_is_stored(tmp_path: Path) -> None:
    key = "sk-another-0123456789abcdef"
    with upstream_server() as upstream, gateway_rig(tmp_path) as rig:
        door = rig.door(upstream.url)
        body = {**BODIES[Api.CHAT], "messages": [{"role": "user", "content": f"something forbidden, {key}"}]}
        assert door.send("POST", PATHS[Api.CHAT], body, {"cookie": "forbidden", "x-api-key": key}).status == 200
        _, (line,) = door.close()
        assert line.sent is not None
        stored = rig.store.get(line.sent.digest)
        assert b"something forbidden" in stored and key.encode() not in stored
        assert "another_key" in line.notes


def test_two_answers_of_one_id_to_two_requests_both_count(tmp_path: Path) -> None:
    # Ollama draws its ids from 999 numbers.
    with upstream_server() as upstream, gateway_rig(tmp_path) as rig:
        door = rig.door(upstream.url)
        for word in ("one", "two"):
            door.ask(Api.CHAT, messages=[{"role": "user", "content": word}])
        closed, _ = door.close()
        assert closed.traffic.usage.stated == 36
        assert door.access.models == (MODEL,)

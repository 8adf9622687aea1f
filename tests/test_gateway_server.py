"""The gateway process between real clients and a real server: what passes, what is metered, what is written down."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Iterator

import pytest
from aiohttp import web

from harness.gateway.records import Api, Completeness, Fault
from tests.gateway_rig import (
    ANSWERS,
    ANTHROPIC_STREAM,
    BODIES,
    KEY,
    MODEL,
    PATHS,
    DoorRig,
    FakeUpstream,
    GatewayRig,
    events,
    gateway_rig,
    playing,
    upstream_server,
)

SSE = "text/event-stream"
STREAMS = {
    Api.ANTHROPIC: ANTHROPIC_STREAM,
    Api.RESPONSES: (
        {"type": "response.created", "response": {"id": "resp_s", "model": "served-1"}},
        {"type": "response.completed", "response": {**ANSWERS[Api.RESPONSES], "id": "resp_s"}},
    ),
    Api.CHAT: (
        {"id": "chat_s", "model": "served-1", "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]},
        {"id": "chat_s", "choices": [], "usage": ANSWERS[Api.CHAT]["usage"]},
    ),
    Api.GEMINI: ({"responseId": "gen_s", **ANSWERS[Api.GEMINI]},),
}
STREAM_PATHS = {**PATHS, Api.GEMINI: f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayRig]:
    with gateway_rig(tmp_path_factory.mktemp("gateway"), idle_s=2, drain_s=20, breaker_faults=10_000) as made:
        yield made


@pytest.fixture
def fake() -> Iterator[FakeUpstream]:
    with upstream_server() as made:
        yield made


@pytest.fixture
def door(rig: GatewayRig, fake: FakeUpstream) -> DoorRig:
    return rig.door(fake.url)


# ---------------------------------------------------------------------------------------------- formats and metering


@pytest.mark.parametrize("api", Api)
def test_a_whole_answer_passes_and_is_metered(door, fake, api):
    reply = door.ask(api)
    assert (reply.status, reply.json) == (200, ANSWERS[api])
    closed, (line,) = door.close()
    assert (line.status, line.answer.model, line.request.model) == (200, "served-1", MODEL)
    assert closed.traffic.usage.stated == 18 and closed.traffic.usage.completeness is Completeness.COMPLETE
    assert json.loads(door.store.get(line.sent.digest)) == json.loads(fake.seen[0].body)
    assert json.loads(door.store.get(line.received.digest)) == ANSWERS[api]
    assert KEY in str(fake.seen[0].headers) and door.door.token not in str(fake.seen[0])


@pytest.mark.parametrize("coded", [False, True], ids=["identity", "gzip"])
@pytest.mark.parametrize("api", Api)
def test_a_stream_passes_and_is_metered(door, fake, api, coded):
    whole = events(*STREAMS[api]) + (b"data: [DONE]\n\n" if api is Api.CHAT else b"")
    more = {"content-encoding": "gzip"} if coded else {}
    fake.play = playing(gzip.compress(whole) if coded else whole, **more)
    asks_itself = {"stream_options": {"include_usage": True}} if api is Api.CHAT else {}
    body = {**BODIES[api], **({} if api is Api.GEMINI else {"stream": True}), **asks_itself}
    reply = door.send("POST", STREAM_PATHS[api], body)
    assert (reply.status, reply.body, "content-encoding" in reply.headers) == (200, whole, False)
    closed, (line,) = door.close()
    assert closed.traffic.usage.stated in {17, 18} and closed.traffic.usage.completeness is Completeness.COMPLETE
    assert line.request.stream and line.fault is None
    assert door.store.get(line.received.digest) == whole


def test_a_client_that_did_not_ask_for_a_streams_usage_does_not_see_it(door, fake):
    fake.play = playing(*(events(one) for one in STREAMS[Api.CHAT]), b"data: [DONE]\n\n")
    reply = door.ask(Api.CHAT, stream=True)
    assert reply.body == events(STREAMS[Api.CHAT][0]) + b"data: [DONE]\n\n"
    assert json.loads(fake.seen[0].body)["stream_options"] == {"include_usage": True}
    assert fake.seen[0].headers["accept-encoding"] == "identity"
    assert door.close()[0].traffic.usage.stated == 18


def test_an_event_is_with_the_client_before_the_next_is_made(door, fake):
    """The upstream waits until the client has the first event: a gateway that buffers would wait for ever."""
    got = threading.Event()

    async def play(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": SSE})
        await answer.prepare(request)
        await answer.write(events(ANTHROPIC_STREAM[0]))
        while not got.is_set():
            await asyncio.sleep(0.01)
        await answer.write(events(*ANTHROPIC_STREAM[1:]))
        return answer

    fake.play = play
    connection = door.connection()
    given = {"x-api-key": door.door.token}
    connection.request("POST", "/v1/messages", json.dumps({**BODIES[Api.ANTHROPIC], "stream": True}), given)
    answer = connection.getresponse()
    first = answer.read1(65536)
    got.set()
    assert first + answer.read() == events(*ANTHROPIC_STREAM)
    connection.close()
    door.close()


def test_counting_tokens_costs_nothing(door, fake):
    async def play(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"input_tokens": 7})

    fake.play = play
    assert door.send("POST", "/v1/messages/count_tokens", BODIES[Api.ANTHROPIC]).json == {"input_tokens": 7}
    closed, (line,) = door.close()
    assert (closed.traffic.requests, closed.traffic.usage.stated, line.answer) == (0, 0, None)


def test_two_answers_with_one_id_are_counted_once_and_others_each(door, fake):
    for _ in range(3):
        door.ask(Api.ANTHROPIC)
    door.ask(Api.CHAT)
    closed, lines = door.close()
    assert (len(lines), closed.traffic.requests, closed.traffic.usage.stated) == (4, 4, 36)


def test_the_shorter_paths_go_up_with_their_version(door, fake):
    door.send("POST", "/chat/completions", BODIES[Api.CHAT])
    door.send("POST", "/responses", BODIES[Api.RESPONSES])
    assert [one.path for one in fake.seen] == ["/v1/chat/completions", "/v1/responses"]
    door.close()


# ------------------------------------------------------------------------------------------------- a client that left


def test_a_client_that_leaves_stops_nothing(door, fake):
    """As codex does: it is gone after the first event; the rest is read, and the usage is whole."""
    left = threading.Event()

    async def play(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": SSE})
        await answer.prepare(request)
        await answer.write(events(ANTHROPIC_STREAM[0]))
        while not left.is_set():
            await asyncio.sleep(0.01)
        for one in ANTHROPIC_STREAM[1:]:
            await answer.write(events(one) * (1 if one["type"] != "content_block_delta" else 2000))
        return answer

    fake.play = play
    connection = door.connection()
    given = {"x-api-key": door.door.token}
    connection.request("POST", "/v1/messages", json.dumps({**BODIES[Api.ANTHROPIC], "stream": True}), given)
    connection.getresponse().read1(10)
    connection.sock.close()
    connection.close()
    left.set()
    closed, (line,) = door.close()
    assert line.notes == ("client_left",) and line.fault is None
    assert (closed.traffic.usage.completeness, closed.traffic.usage.output) == (Completeness.COMPLETE, 7)


def test_a_drain_has_an_end_and_the_usage_then_says_so(tmp_path, fake):
    async def play(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": SSE})
        await answer.prepare(request)
        await answer.write(events(ANTHROPIC_STREAM[0]))
        await asyncio.sleep(60)
        return answer

    fake.play = play
    with gateway_rig(tmp_path, drain_s=1) as rig:
        door = rig.door(fake.url)
        connection = door.connection()
        connection.request("POST", "/v1/messages", json.dumps(BODIES[Api.ANTHROPIC]), {"x-api-key": door.door.token})
        connection.getresponse().read1(10)
        connection.sock.close()
        connection.close()
        closed, (line,) = door.close()
    assert "drain_ended" in line.notes and line.fault is None
    assert closed.traffic.usage.completeness is Completeness.USAGE_INCOMPLETE
    assert (closed.traffic.usage.input, closed.traffic.usage.output) == (10, None)


def test_an_attempt_that_ends_while_the_provider_is_silent_has_used_what_nobody_knows(tmp_path, fake):
    async def silence(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    fake.play = silence
    with gateway_rig(tmp_path, drain_s=1) as rig:
        door = rig.door(fake.url)
        connection = door.connection()
        connection.request("POST", "/v1/messages", json.dumps(BODIES[Api.ANTHROPIC]), {"x-api-key": door.door.token})
        while not fake.seen:
            threading.Event().wait(0.05)
        connection.sock.close()
        connection.close()
        closed, (line,) = door.close()
    assert (line.status, line.fault, closed.traffic.faults) == (None, None, ())
    assert closed.traffic.usage.completeness is Completeness.USAGE_INCOMPLETE


def test_a_fault_inside_a_stream_that_makes_the_client_leave_was_seen(rig, fake):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}

    async def fail(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(events(ANTHROPIC_STREAM[0], error))
        await asyncio.sleep(0.5)
        return answer

    fake.play = fail
    door = rig.door(fake.url)
    connection = door.connection()
    body = json.dumps({**BODIES[Api.ANTHROPIC], "stream": True})
    connection.request("POST", "/v1/messages", body, {"x-api-key": door.door.token})
    got = connection.getresponse()
    while b"overloaded" not in got.readline():
        pass
    connection.sock.close()
    connection.close()
    closed, (line,) = door.close()
    assert (line.fault, closed.traffic.outlasting) == (Fault.SERVER_ERROR,) * 2 and "fault_unseen" not in line.notes


@pytest.mark.parametrize("answer", ["hangs up", "500"])
def test_a_fault_that_comes_once_the_client_has_left_ends_nobodys_run(rig, fake, answer):
    """As where the time of an attempt is up: it stays a timeout, whatever its provider does after that."""
    gone = threading.Event()

    async def late(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.to_thread(gone.wait)
        if answer == "hangs up":
            request.transport.close()
        return web.Response(status=500)

    fake.play = late
    door = rig.door(fake.url)
    connection = door.connection()
    connection.request("POST", "/v1/messages", json.dumps(BODIES[Api.ANTHROPIC]), {"x-api-key": door.door.token})
    while not fake.seen:
        threading.Event().wait(0.02)
    connection.sock.close()
    connection.close()
    threading.Event().wait(0.2)
    gone.set()
    closed, (line,) = door.close()
    assert line.fault in {Fault.CONNECTION, Fault.SERVER_ERROR} and "fault_unseen" in line.notes
    assert closed.traffic.faults == (line.fault,) and closed.traffic.outlasting is None


# ----------------------------------------------------------------------------------------------------------- faults

GOOD = json.dumps(ANSWERS[Api.ANTHROPIC]).encode()
JSON = "application/json"
FAULTS = {
    "402": (playing(b"{}", status=402, content_type=JSON), Fault.STATUS_402, 402),
    "429": (playing(b"{}", status=429, content_type=JSON, **{"retry-after": "7"}), Fault.RATE_LIMITED, 429),
    "500": (playing(b"{}", status=500, content_type=JSON), Fault.SERVER_ERROR, 500),
    "529": (playing(b"{}", status=529, content_type=JSON), Fault.SERVER_ERROR, 529),
    "redirect": (playing(b"", status=307, location="http://127.0.0.1:9/x"), Fault.MALFORMED, 502),
    "html": (playing(b"<html>", content_type="text/html"), Fault.MALFORMED, 200),
    "wrong type": (playing(GOOD, content_type="text/plain"), Fault.MALFORMED, 200),
    "half a body": (playing(GOOD[:40], content_type=JSON), Fault.MALFORMED, 200),
    "empty": (playing(content_type=JSON), Fault.MALFORMED, 200),
    "unasked coding": (playing(b"x", content_type=JSON, **{"content-encoding": "br"}), Fault.MALFORMED, 502),
    "damaged gzip": (
        playing(b"\x1f\x8bx" * 9, content_type=JSON, **{"content-encoding": "gzip"}),
        Fault.MALFORMED,
        200,
    ),
    "bad event": (playing(b'data: {"type": "mess\n\n'), Fault.MALFORMED, 200),
    "cut": (playing(events(*ANTHROPIC_STREAM[:2]), cut=True), Fault.CUT_STREAM, 200),
    "early end": (playing(events(*ANTHROPIC_STREAM[:2])), Fault.CUT_STREAM, 200),
    "overloaded in the stream": (
        playing(events(ANTHROPIC_STREAM[0], {"type": "error", "error": {"type": "overloaded_error"}})),
        Fault.SERVER_ERROR,
        200,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_name_and_is_the_end_of_it(door, fake, name):
    fake.play, fault, status = FAULTS[name]
    reply = door.ask(Api.ANTHROPIC, stream=True)
    assert (reply.status, reply.cut) == (status, name == "cut")
    closed, (line,) = door.close()
    assert (line.fault, line.status) == (fault, status)
    assert (closed.traffic.faults, closed.traffic.outlasting) == ((fault,), fault)
    assert status >= 400 or name == "wrong type" or closed.traffic.usage.completeness is not Completeness.COMPLETE
    assert reply.headers.get("retry-after") == ("7" if name == "429" else None)


def test_an_upstream_that_is_not_there_or_says_nothing(rig, fake):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}"
    gone = rig.door(nobody)
    assert (gone.ask(Api.CHAT).status, gone.close()[0].traffic.outlasting) == (502, Fault.CONNECTION)

    async def silence(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    fake.play = silence
    silent = rig.door(fake.url)
    assert (silent.ask(Api.CHAT).status, silent.close()[0].traffic.outlasting) == (504, Fault.TIMEOUT)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_judges_the_request_is_no_fault_and_passes(door, fake, status):
    fake.play = playing(b'{"error": {"type": "some_error"}}', status=status, content_type=JSON)
    assert door.ask(Api.CHAT).status == status
    closed, (line,) = door.close()
    assert (line.fault, line.answer.error, closed.traffic.faults) == (None, "some_error", ())
    assert closed.traffic.usage.stated == 0 and closed.traffic.usage.completeness is Completeness.COMPLETE


def test_a_fault_that_is_recovered_from_does_not_outlast_and_the_retry_is_counted(door, fake):
    fake.play = FAULTS["529"][0]
    door.ask(Api.ANTHROPIC)
    door.ask(Api.ANTHROPIC)
    fake.play = None
    door.ask(Api.ANTHROPIC)
    door.ask(Api.ANTHROPIC)
    closed, lines = door.close()
    assert (closed.traffic.faults, closed.traffic.outlasting) == ((Fault.SERVER_ERROR,) * 2, None)
    assert (closed.traffic.retries, [("retry" in one.notes) for one in lines]) == (2, [False, True, True, False])


def test_the_circuit_opens_for_all_attempts_and_closes_again(tmp_path, fake):
    fake.play = FAULTS["500"][0]
    with gateway_rig(tmp_path, breaker_faults=3, breaker_pause_ms=1500) as rig:
        one, two = rig.door(fake.url), rig.door(fake.url)
        for door in (one, two, one):
            assert door.ask(Api.CHAT).status == 500
        refused = two.ask(Api.CHAT)
        assert (refused.status, len(fake.seen)) == (503, 3)
        assert int(refused.headers["retry-after"]) >= 1
        fake.play = None
        while (reply := two.ask(Api.CHAT)).status == 503:
            threading.Event().wait(0.2)
        assert reply.status == 200
        closed, lines = two.close()
        assert Fault.CIRCUIT_OPEN in closed.traffic.faults and closed.traffic.outlasting is None
        assert any(line.fault is Fault.CIRCUIT_OPEN and line.status == 503 for line in lines)

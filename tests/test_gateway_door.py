"""One attempt's door: what it lets through and what not, its budget, and that no key is ever seen through it."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from harness.gateway.access import Budget, CostCap
from harness.gateway.records import Api, Bucket, Fault, Provided
from harness.store import LocalStore
from tests.gateway_rig import (
    ANSWERS,
    BODIES,
    KEY,
    MODEL,
    PATHS,
    DoorRig,
    FakeUpstream,
    GatewayRig,
    connected,
    gateway_rig,
    playing,
    upstream_server,
)

GOOD = json.dumps(ANSWERS[Api.ANTHROPIC]).encode()
JSON = "application/json"


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


# ------------------------------------------------------------------------------------------------------ what is denied


def test_each_denial_is_a_line_with_its_name_and_reaches_nobody(door, fake):
    asks = [
        ("files", "POST", "/v1/files", b"x"),
        ("batches", "POST", "/v1/messages/batches", b"{}"),
        ("host", "GET", "http://files.example.test/x", b""),
        ("model", "POST", PATHS[Api.CHAT], {**BODIES[Api.CHAT], "model": "other"}),
        ("web_search", "POST", PATHS[Api.CHAT], {**BODIES[Api.CHAT], "model": f"{MODEL}:online"}),
        ("stored_context", "POST", PATHS[Api.RESPONSES], {**BODIES[Api.RESPONSES], "previous_response_id": "r"}),
        ("query", "POST", PATHS[Api.CHAT] + "?key=x", BODIES[Api.CHAT]),
        ("body", "POST", PATHS[Api.CHAT], b"not json"),
        ("body", "POST", PATHS[Api.CHAT], b'{"model": "model-1", "model": "model-1"}'),
        ("method", "GET", PATHS[Api.CHAT], b""),
        ("endpoint", "PATCH", "/anything", b""),
    ]
    for rule, method, path, body in asks:
        reply = door.send(method, path, body)
        assert reply.status >= 400 and rule in reply.body.decode(), rule
    coded = gzip.compress(json.dumps(BODIES[Api.CHAT]).encode())
    door.send("POST", PATHS[Api.CHAT], coded, {"content-encoding": "gzip"})
    door.send("GET", PATHS[Api.RESPONSES], b"", {"upgrade": "websocket", "connection": "upgrade"})
    closed, lines = door.close()
    expected = [*(one[0] for one in asks), "compressed_body", "websocket"]
    assert [line.denial.rule for line in lines] == expected
    assert (closed.traffic.denied, closed.traffic.requests, fake.seen) == (len(expected), 0, [])
    assert lines[2].host == "files.example.test"


def test_a_token_is_good_on_its_own_socket_alone(rig, fake):
    one, two = rig.door(fake.url), rig.door(fake.url)
    assert one.send("POST", PATHS[Api.CHAT], BODIES[Api.CHAT], token=two.door.token).status == 401
    assert one.send("POST", PATHS[Api.CHAT], BODIES[Api.CHAT], token=KEY).status == 401
    assert two.ask(Api.CHAT).status == 200
    assert [line.denial.rule for line in one.close()[1]] == ["bad_token"] * 2
    two.close()


def test_provider_side_tools_are_stripped_and_recorded(door, fake):
    tools = [{"type": "web_search"}, {"type": "mcp", "server_label": "s", "server_url": "https://mcp.example.test"}]
    picture = {"type": "input_image", "image_url": "https://pictures.example.test/1.png"}
    door.ask(Api.RESPONSES, tools=tools, input=[{"role": "user", "content": [picture]}])
    door.send(
        "POST", PATHS[Api.ANTHROPIC], BODIES[Api.ANTHROPIC], {"anthropic-beta": "mcp-client-2025-04-04,effort-2025"}
    )
    closed, _ = door.close()
    assert closed.traffic.stripped == {
        Provided.WEB_SEARCH: 1,
        Provided.HOSTED_MCP: 2,
        Provided.REMOTE_MEDIA: 1,
    }
    assert b"example.test" not in fake.seen[0].body
    assert fake.seen[1].headers["anthropic-beta"] == "effort-2025"


def test_what_clients_ask_beside_their_model_is_answered_here(door, fake):
    connection = door.connection()
    connection.request("HEAD", "/api/hello")
    assert connection.getresponse().status == 200
    connection.close()
    assert [one["id"] for one in door.send("GET", "/v1/models?limit=1000").json["data"]] == [MODEL]
    assert door.send("GET", "/v1/models", token="other").status == 401
    closed, lines = door.close()
    assert [line.notes for line in lines] == [("answered_here",), ("answered_here",), ()]
    assert (closed.traffic.requests, fake.seen) == (0, [])


def test_a_body_may_be_large_but_not_larger_than_can_be_held(door, fake):
    large = {**BODIES[Api.CHAT], "messages": [{"role": "user", "content": "x" * 6_000_000}]}
    assert door.send("POST", PATHS[Api.CHAT], large).status == 200
    assert len(fake.seen[0].body) > 6_000_000
    connection = door.connection()
    connection.putrequest("POST", PATHS[Api.CHAT])
    connection.putheader("content-length", str(40 << 20))
    connection.putheader("authorization", f"Bearer {door.door.token}")
    connection.putheader("expect", "100-continue")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    assert [line.status for line in door.close()[1]] == [200, 413]


def test_a_client_may_wait_to_be_told_to_go_on_and_may_send_in_chunks(door, fake):
    with connected(door.door.folder / "gateway.sock") as raw:
        head = f"POST {PATHS[Api.CHAT]} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {door.door.token}\r\n"
        raw.sendall((head + "expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n").encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 100 ")
        body = json.dumps(BODIES[Api.CHAT]).encode()
        for piece in (body[:10], body[10:], b""):
            raw.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        answer = http.client.HTTPResponse(raw)
        answer.begin()
        assert (answer.status, json.loads(answer.read())) == (200, ANSWERS[Api.CHAT])
    door.close()


def test_a_client_that_leaves_before_its_request_is_whole_has_asked_nobody(door, fake):
    with connected(door.door.folder / "gateway.sock") as raw:
        head = f"POST {PATHS[Api.CHAT]} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {door.door.token}\r\n"
        raw.sendall((head + "expect: 100-continue\r\ncontent-length: 1000\r\n\r\n").encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 100 ")
        raw.sendall(b"{")
    closed, (line,) = door.close()
    assert (line.status, line.denial.rule, fake.seen) == (None, "client_left", [])
    assert closed.traffic.requests == 0


# ------------------------------------------------------------------------------------------------------------ budget


def test_the_request_after_the_budget_is_refused_in_the_apis_own_shape(rig, fake):
    door = rig.door(fake.url, budget=Budget(tokens=30))
    assert [door.ask(Api.ANTHROPIC).status for _ in range(2)] == [200, 200]
    refused = door.ask(Api.ANTHROPIC)
    assert (refused.status, refused.json["error"]["type"]) == (403, "permission_error")
    assert refused.headers["x-should-retry"] == "false"
    assert door.send("POST", "/v1/messages/count_tokens", BODIES[Api.ANTHROPIC]).status == 200
    closed, lines = door.close()
    assert closed.traffic.budget_refused and lines[2].denial.rule == "budget"
    assert "36 of 30 tokens" in lines[2].denial.detail


@pytest.mark.parametrize(
    ("budget", "reached"),
    [
        (Budget(requests=5), 5),
        (Budget(tokens=18 * 5), 5),
        (Budget(cost=CostCap(cap_pusd=18 * 5, rates_pusd={Bucket.INPUT: 1, Bucket.OUTPUT: 1})), 5),
    ],
    ids=["requests", "tokens", "cost"],
)
def test_a_budget_holds_under_requests_at_once(rig, fake, budget, reached):
    door = rig.door(fake.url, budget=budget)
    with ThreadPoolExecutor(16) as pool:
        got = list(pool.map(lambda _: door.ask(Api.CHAT).status, range(40)))
    assert (got.count(200), got.count(403), len(fake.seen)) == (reached, 40 - reached, reached)
    assert door.close()[0].traffic.requests == reached


# ---------------------------------------------------------------------------------------------------------- the key


def test_the_key_is_nowhere_but_at_the_upstream(rig, fake):
    """An upstream that echoes everything it is sent, in every form, into header, body and stream."""

    async def echo(request: web.BaseRequest) -> web.StreamResponse:
        given = request.headers.get("x-api-key", "")
        said = {**ANSWERS[Api.ANTHROPIC], "echo": [given, base64.b64encode(b"u:" + given.encode()).decode()]}
        return web.json_response(said, headers={"request-id": given, "x-request-id": f"id {given}"})

    fake.play = echo
    door = rig.door(fake.url)
    foreign = "sk-smuggled-by-the-solver-0001"
    body = {**BODIES[Api.ANTHROPIC], "messages": [{"role": "user", "content": f"{door.door.token} {foreign}"}]}
    reply = door.send("POST", PATHS[Api.ANTHROPIC], body, {"x-api-key": door.door.token, "x-goog-api-key": foreign})
    assert reply.status == 200 and foreign not in str(fake.seen[0].headers)
    coded = base64.b64encode(KEY.encode())[4:-8].decode()
    for secret in (KEY, coded):
        assert secret not in reply.body.decode() and secret not in str(reply.headers)
    door.close()
    kept = list(LocalStore(rig.folder / "blobs").digests())
    texts = [rig.store.get(digest) for digest in kept]
    texts += [path.read_bytes() for path in rig.folder.rglob("*") if path.is_file()]
    for secret in (KEY, door.door.token, foreign, coded):
        assert not [text for text in texts if secret.encode() in text], secret[:8]


def test_a_key_of_the_attempts_own_takes_the_place_of_the_upstreams(rig, fake):
    door = rig.door(fake.url, key="script-key-0001")
    door.ask(Api.RESPONSES)
    assert fake.seen[0].headers["authorization"] == "Bearer script-key-0001"
    assert (rig.gateway.alive, "script-key" in repr(rig.gateway) + repr(door.door)) == (True, False)
    door.close()


def test_quota_headers_are_kept_and_not_handed_on(door, fake):
    fake.play = playing(GOOD, content_type=JSON, **{"anthropic-ratelimit-requests-remaining": "49", "x-secret": "s"})
    reply = door.ask(Api.ANTHROPIC)
    assert not {"anthropic-ratelimit-requests-remaining", "x-secret"} & set(reply.headers)
    assert door.close()[0].traffic.quota == {"anthropic-ratelimit-requests-remaining": "49"}


# --------------------------------------------------------------------------------------------------------- the trace


def test_many_at_once_leave_one_chain_with_every_request_in_it(door, fake):
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: door.ask(list(Api)[n % 4]) if n % 3 else door.send("POST", "/v1/files"), range(60)))
    closed, lines = door.close()
    assert (len(lines), closed.traffic.requests, closed.traffic.denied) == (60, 40, 20)
    assert closed.problem == ""


def test_what_comes_from_inside_is_advisory_and_bounded(door):
    for number in range(30):
        told = {"dns": 2, "http": -1, "tls": "x", "seen": [["dns", f"host-{number}-{n}.test"] for n in range(100)]}
        assert door.send("POST", "/.gateway/sinkhole", told, token="none").status == 204
    door.send("POST", "/.gateway/sinkhole", b"[" * 60_000)
    door.send("POST", "/.gateway/sinkhole", {"seen": [["smtp", "x"], ["dns"], "dns", ["dns", 7]]})
    closed, lines = door.close()
    assert (closed.traffic.sinkhole.dns, closed.traffic.sinkhole.http, closed.traffic.sinkhole.tls) == (60, 0, 0)
    assert len(closed.traffic.sinkhole.names) == len(lines) == 500
    assert {line.denial.rule for line in lines} == {"sinkhole"}
    assert closed.traffic.denied == 0


# --------------------------------------------------------------------------------------------------------------- TLS


@pytest.mark.parametrize("trusted", [True, False])
def test_an_upstream_must_prove_who_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool):
    authority, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    (authority if trusted else other).cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with upstream_server(ssl_context=context) as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        assert door.ask(Api.CHAT).status == (200 if trusted else 502)
        assert len(fake.seen) == trusted
        assert door.close()[0].traffic.outlasting is (None if trusted else Fault.CONNECTION)

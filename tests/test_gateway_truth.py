"""The gateway's figures against the scripted provider's own truth, and its names for what the provider does wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.gateway.access import Billing
from harness.gateway.records import CONTAINER, Api, Bucket, Completeness, Fault
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.read import parse_script
from tests.gateway_rig import BODIES, MODEL, PATHS, DoorRig, GatewayRig, gateway_rig

USAGE = "{input: 1203, cache_read: 311, output: 97, reasoning: 13}"
SCRIPT = """
model: served-1
gzip: {gzip}
usage: {usage}
turns:
  - {{say: one, fault: {{kind: {fault}, times: {times}}}}}
  - {{say: two, done: true}}
"""
FAULTS = {
    "rate_limited": Fault.RATE_LIMITED,
    "payment_required": Fault.STATUS_402,
    "server_error": Fault.SERVER_ERROR,
    "overloaded": Fault.SERVER_ERROR,
    "cut": Fault.CUT_STREAM,
    "malformed": Fault.MALFORMED,
    "wrong_type": Fault.MALFORMED,
    "silence": Fault.CONNECTION,
    "unauthorized": None,
    "unknown_model": None,
}


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as made:
        yield made


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayRig]:
    with gateway_rig(tmp_path_factory.mktemp("gateway"), breaker_faults=10_000) as made:
        yield made


def script(fault: str = "slow", times: int = 1, gzip: str = "false") -> bytes:
    return SCRIPT.format(usage=USAGE, fault=fault, times=times, gzip=gzip).encode()


def asked(door: DoorRig, api: Api, *, stream: bool, more: int = 0):
    """One request; ``more`` makes its body another one, since the same body again is a retry."""
    path, body = PATHS[api], {**BODIES[api], "temperature": more}
    if api is Api.GEMINI:
        path = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse" if stream else path
        body = {**BODIES[api], "generationConfig": {"temperature": more}}
    elif stream:
        body["stream"] = True
    return door.send("POST", path, body)


@pytest.mark.parametrize("gzip", ["false", "true"], ids=["identity", "gzip"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", Api)
def test_each_bucket_is_the_providers_own(rig, provider, api, stream, gzip):
    key = provider.add(parse_script(script(gzip=gzip)))
    door = rig.door(provider.url, key=key, billing=Billing.LOCAL)
    for number in range(3):
        assert asked(door, api, stream=stream, more=number).status == 200
    closed, lines = door.close()
    truth = provider.truth(key)
    assert len(truth) == len(lines) == 3
    for served, line in zip(truth, lines, strict=True):
        assert line.answer.usage == served.usage and line.answer.usage.completeness is Completeness.COMPLETE
        assert (line.answer.model, line.answer.request_id) == (served.served_model, served.request_id)
    for bucket in Bucket:
        stated = [one.usage.of(bucket) for one in truth]
        known = closed.traffic.usage.of(bucket)
        assert known == (None if None in stated else sum(stated)) or bucket in CONTAINER.values()
    assert closed.traffic.usage.stated == sum(one.usage.stated for one in truth)
    assert (closed.traffic.requests, closed.traffic.retries) == (3, 0)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("api", [Api.ANTHROPIC, Api.RESPONSES])
def test_a_fault_is_named_and_the_retry_after_it_counts_once(rig, provider, api, fault, stream):
    key = provider.add(parse_script(script(fault)))
    door = rig.door(provider.url, key=key, billing=Billing.LOCAL)
    asked(door, api, stream=stream)
    assert asked(door, api, stream=stream).status == 200
    closed, (failed, good) = door.close()
    assert (failed.fault, good.fault) == (FAULTS[fault], None)
    assert closed.traffic.outlasting is None
    assert closed.traffic.retries == (FAULTS[fault] is not None)
    truth = provider.truth(key)
    assert good.answer.usage == truth[1].usage
    lost = FAULTS[fault] in {Fault.CUT_STREAM, Fault.MALFORMED}
    complete = closed.traffic.usage.completeness
    assert complete is (Completeness.USAGE_INCOMPLETE if lost else Completeness.COMPLETE)
    assert closed.traffic.usage.stated <= sum(one.usage.stated for one in truth if one.usage)


def test_hundreds_of_attempts_with_a_key_of_their_own_are_kept_apart(rig, provider):
    keys = [provider.add(parse_script(script())) for _ in range(60)]
    doors = [rig.door(provider.url, key=key, billing=Billing.LOCAL) for key in keys]
    for number, door in enumerate(doors):
        for _ in range(1 + number % 3):
            asked(door, list(Api)[number % 4], stream=bool(number % 2))
    for number, (door, key) in enumerate(zip(doors, keys, strict=True)):
        closed, _ = door.close()
        truth = provider.truth(key)
        assert closed.traffic.requests == len(truth) == 1 + number % 3
        assert closed.traffic.usage.stated == sum(one.usage.stated for one in truth)

"""The providers' own clients against the scripted provider: whole conversations, streamed and not, and every fault."""

from __future__ import annotations

import json

import anthropic
import httpx2
import openai
import pytest
from google.genai import errors as genai_errors

from harness.gateway.records import Bucket
from harness.gateway.scripted.provider import ScriptedProvider
from tests import scripted_rig as rig
from tests.scripted_clients_rig import (
    CLIENTS,
    Anthropic,
    Chat,
    Responses,
    anthropic_client,
    gemini_client,
    openai_client,
)
from tests.scripted_rig import MODEL

CONVERSATION = """
turns:
  - think: Let me see.
    say: I look first. A naïve “quote”.
    tool: {shell: ls -la}
    usage: {input: 10, cache_read: 5, cache_write_5m: 3, cache_write_1h: 2, output: 7, reasoning: 4}
  - tools:
      - write: {path: a/b.txt, content: "hi\\n"}
      - delete: old.txt
    usage: {input: 100, output: 9}
  - say: Finished.
    done: true
    usage: {input: 120, cache_read: 40, output: 3}
"""


@pytest.fixture(scope="module")
def provider():
    with ScriptedProvider() as server:
        yield server


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", CLIENTS)
def test_a_conversation_goes_through_the_script(provider, kind, stream):
    key = provider.add(rig.script(CONVERSATION))
    client = kind(provider.url, key, stream=stream)
    first, second, third = client.drive()
    assert first[0] == "I look first. A naïve “quote”."
    assert [one[1:] for one in first[1]] == [("Bash", {"command": "ls -la"})]
    write, delete = second[1]
    assert write[1:] == ("Write", {"file_path": "/workspace/a/b.txt", "content": "hi\n"})
    assert delete[1:] == ("Bash", {"command": "unlink old.txt 2>/dev/null"})
    assert (third[0], third[1]) == ("Finished.", [])
    assert [one[2] for one in (first, second, third)] == [(20, 11), (100, 9), (160, 3)]
    if not (kind is Chat and stream):  # the client's own sum of a stream drops fields that it does not know
        assert client.thoughts == "Let me see."


@pytest.mark.parametrize("kind", CLIENTS)
def test_the_truth_tells_what_was_served(provider, kind):
    key = provider.add(rig.script(CONVERSATION))
    client = kind(provider.url, key, stream=True)
    said = client.drive()
    served = provider.truth(key)
    assert [one.turn for one in served] == [0, 1, 2]
    assert [one.past for one in served] == [0, 1, 2]
    assert {(one.api, one.model, one.streamed, one.status, one.stated, one.cut) for one in served} == {
        (kind.api, MODEL, True, 200, True, False)
    }
    assert [one.called for one in served] == [("Bash",), ("Write", "Bash"), ()]
    assert all(one.tools == ("Bash", "Write") for one in served)
    assert served[0].user == "do it"
    assert [one.usage.stated for one in served] == [sum(one[2]) for one in said] == [31, 109, 163]
    assert len({one.request_id for one in served}) == 3


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_turn_can_be_asked_for_again(provider, kind):
    """The script keeps nothing between requests: a client that retries gets the same turn."""
    key = provider.add(rig.script(CONVERSATION))
    asked = [kind(provider.url, key, stream=True).ask() for _ in range(3)]
    assert asked[0][0] == asked[1][0] == asked[2][0]
    assert [one.turn for one in provider.truth(key)] == [0, 0, 0]


# ----------------------------------------------------------------------------------------------------- faults

STATUSES = {
    "rate_limited": 429,
    "payment_required": 402,
    "server_error": 500,
    "overloaded": 503,
    "unauthorized": 401,
    "unknown_model": 404,
}
BROKEN = (
    anthropic.APIError,
    openai.OpenAIError,
    genai_errors.APIError,
    genai_errors.UnknownApiResponseError,
    httpx2.HTTPError,
    json.JSONDecodeError,
    AttributeError,
    IndexError,
    TypeError,
    AssertionError,
    RuntimeError,
)
"""What clients raise on an answer that is none: not all of them foresee it."""


def faulty(fault):
    return rig.script(f"turns:\n  - say: Well.\n    usage: {{input: 5, output: 3}}\n    fault: {fault}\n")


@pytest.mark.parametrize("fault", STATUSES)
@pytest.mark.parametrize("kind", CLIENTS)
def test_a_status_reaches_the_client_as_often_as_asked(provider, kind, fault):
    key = provider.add(faulty(f"{{kind: {fault}, times: 2, retry_after_s: 0}}"))
    client = kind(provider.url, key, stream=False)
    status = 529 if fault == "overloaded" and kind is Anthropic else STATUSES[fault]
    for _ in range(2):
        with pytest.raises((anthropic.APIStatusError, openai.APIStatusError, genai_errors.APIError)) as failed:
            client.ask()
        assert getattr(failed.value, "status_code", None) or failed.value.code == status
    assert client.ask()[0] == "Well."
    served = provider.truth(key)
    assert [(one.status, one.fault, one.usage is None) for one in served] == [
        (status, fault, True),
        (status, fault, True),
        (200, None, False),
    ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("fault", ["cut", "malformed", "wrong_type", "silence, wait_ms: 50"])
def test_a_broken_answer_is_no_answer(provider, kind, stream, fault):
    key = provider.add(faulty(f"{{kind: {fault}, times: always}}"))
    client = kind(provider.url, key, stream=stream)
    try:
        text = client.ask()[0]
    except BROKEN:
        text = None
    assert text != "Well."
    (served,) = provider.truth(key)
    assert not served.stated
    # A client may leave in the middle of what it can't read.
    assert served.cut or fault in {"malformed", "wrong_type"}
    assert served.status == (None if fault.startswith("silence") else 200)
    assert (served.usage is not None) == (fault in {"cut", "malformed"})


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_slow_answer_is_whole(provider, kind):
    key = provider.add(faulty("{kind: slow, wait_ms: 5}"))
    assert kind(provider.url, key, stream=True).ask()[0] == "Well."
    (served,) = provider.truth(key)
    assert (served.fault, served.stated, served.cut) == ("slow", True, False)


def test_the_official_client_waits_as_long_as_it_is_told_and_goes_on(provider):
    key = provider.add(faulty("{kind: rate_limited, times: 2, retry_after_s: 0}"))
    client = anthropic_client(provider.url, key, retries=2)
    message = client.messages.create(model=MODEL, max_tokens=10, messages=[{"role": "user", "content": "x"}])
    assert message.content[0].text == "Well."
    assert [one.status for one in provider.truth(key)] == [429, 429, 200]


# --------------------------------------------------------------------------------------------- keys and models


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_wrong_key_is_a_401_and_uses_nothing(kind):
    with ScriptedProvider() as server:
        key = server.add(faulty("{kind: slow}"))
        with pytest.raises((anthropic.AuthenticationError, openai.AuthenticationError, genai_errors.ClientError)):
            kind(server.url, "sk-of-somebody", stream=False).ask()
        assert server.truth(key) == () and len(server.others) == server.requests == 1
        assert "sk-of-somebody" not in server.others[0] and "401" in server.others[0]


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_model_that_is_not_served_is_a_404(provider, kind):
    key = provider.add(rig.script("models: [another]\nturns: [{say: hi}]"))
    with pytest.raises((anthropic.NotFoundError, openai.NotFoundError, genai_errors.ClientError)):
        kind(provider.url, key, stream=True).ask()
    (served,) = provider.truth(key)
    assert (served.status, served.turn, served.usage, served.model) == (404, None, None, MODEL)


def test_the_served_model_may_be_another_than_asked_for(provider):
    key = provider.add(rig.script("model: served-2\nturns: [{say: hi}]"))
    client = Responses(provider.url, key, stream=True)
    client.ask()
    (served,) = provider.truth(key)
    assert (served.model, served.served_model) == (MODEL, "served-2")


def test_models_are_listed_in_each_format(provider):
    key = provider.add(rig.script("models: [m-1, m-2]\nturns: [{say: hi}]"))
    listed = [one.id for one in anthropic_client(provider.url, key).models.list()]
    assert listed == ["m-1", "m-2"]
    listed = [one.id for one in openai_client(provider.url, key).models.list()]
    assert listed == ["m-1", "m-2"]


def test_token_counters_count_and_bill_nothing(provider):
    key = provider.add(rig.script("turns: [{say: hi, usage: {input: 30, cache_read: 4, output: 9}}]"))
    user = {"role": "user", "content": "x"}
    counted = anthropic_client(provider.url, key).messages.count_tokens(model=MODEL, messages=[user])
    client = gemini_client(provider.url, key)
    assert counted.input_tokens == client.models.count_tokens(model=MODEL, contents="x").total_tokens == 34
    assert [(one.billed, one.usage) for one in provider.truth(key)] == [(False, None)] * 2


def test_a_stream_of_chat_without_its_usage_states_none(provider):
    key = provider.add(rig.script(CONVERSATION))
    client = openai_client(provider.url, key)
    user = {"role": "user", "content": "x"}
    chunks = list(client.chat.completions.create(model=MODEL, messages=[user], stream=True))
    assert all(one.usage is None for one in chunks)
    (served,) = provider.truth(key)
    assert not served.stated and served.usage.of(Bucket.OUTPUT) is not None


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_clients_that_take_gzip_get_it(provider, kind, stream):
    key = provider.add(rig.script("gzip: true\n" + CONVERSATION))
    assert len(kind(provider.url, key, stream=stream).drive()) == 3

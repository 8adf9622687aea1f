"""What may go through, what is taken out on the way, and what nobody may see: pure parts, and laws over them."""

from __future__ import annotations

import asyncio
import base64
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict

from harness.gateway import headers, policy, shapes
from harness.gateway.access import Access, Auth, Billing, Budget, CostCap, Upstream
from harness.gateway.breaker import Breaker
from harness.gateway.budget import Hold, Purse, Spent, guess
from harness.gateway.policy import Denied
from harness.gateway.records import Api, Bucket, Fault, Provided
from harness.gateway.redact import MARK, Redactor, forms
from harness.gateway.usage import cut, unavailable, usage
from harness.gateway.wire import facts, match, prepare
from tests.gateway_rig import AUTH, BODIES, KEY, MODEL, PATHS

UPSTREAM = Upstream(name="fake", url="https://models.example.test", auth=AUTH, credential="K")
ACCESS = Access(upstream=UPSTREAM, apis=tuple(Api), models=(MODEL, "router/model:free"))


def denied(work) -> tuple[str, str]:
    with pytest.raises(Denied) as caught:
        work()
    return caught.value.denial.rule, caught.value.denial.detail


# ------------------------------------------------------------------------------------------------- the request line


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "models.example.test", ""]
)
def test_the_gateway_and_the_upstreams_own_name_can_be_meant(host):
    policy.check_host(ACCESS, host)


@pytest.mark.parametrize(
    "host", ["files.example.test", "models.example.test:444", "127.0.0.1.example.test", "x@127.0.0.1", "10.0.0.1:8080"]
)
def test_another_host_is_a_denial_by_its_name(host):
    assert denied(lambda: policy.check_host(ACCESS, host)) == ("host", host)


def test_a_proxys_form_names_its_host_itself():
    at = policy.target("http://user:pass@files.example.test:81/a?b=c", "127.0.0.1:8080")
    assert at == ("files.example.test:81", "/a", "b=c")
    assert policy.target("/v1/messages?beta=true", "h") == ("h", "/v1/messages", "beta=true")
    assert policy.target("http://[", "h").path == ""


@pytest.mark.parametrize(
    ("method", "path", "rule"),
    [
        ("POST", "/v1/files", "files"),
        ("GET", "/v1/files/file_1/content", "files"),
        ("POST", "/v1/uploads", "files"),
        ("POST", "/upload/v1beta/files", "files"),
        ("POST", "/v1/messages/batches", "batches"),
        ("POST", "/v1/batches", "batches"),
        ("POST", "/v1beta/models/m:batchGenerateContent", "batches"),
        ("POST", "/v1/mcp", "hosted_mcp"),
        ("POST", "/v1/vector_stores", "file_search"),
        ("POST", "/v1/containers", "code_execution"),
        ("POST", "/v1/conversations", "stored_context"),
        ("GET", "/v1/responses/resp_1", "stored_context"),
        ("POST", "/v1beta/cachedContents", "stored_context"),
        ("POST", "/v1/images/generations", "image_generation"),
        ("POST", "/api/event_logging/batch", "batches"),
        ("POST", "/v1/embeddings", "embeddings"),
        ("GET", "/v1/realtime", "realtime"),
        ("GET", "/v1/organizations/usage", "account"),
        ("CONNECT", "files.example.test:443", "endpoint"),
        ("GET", "/", "endpoint"),
        ("POST", "/v1%2fmessages", "endpoint"),
        ("GET", "/v1/messages", "method"),
        ("DELETE", "/v1/chat/completions", "method"),
    ],
)
def test_every_other_endpoint_is_denied_by_its_name(method, path, rule):
    assert denied(lambda: policy.find_endpoint(method, path, ACCESS))[0] == rule


def test_a_format_must_be_allowed_and_spoken():
    only_chat = ACCESS.model_copy(update={"apis": (Api.CHAT,)})
    assert denied(lambda: policy.find_endpoint("POST", "/v1/messages", only_chat)) == ("api", "anthropic")
    silent = UPSTREAM.model_copy(update={"auth": {Api.CHAT: Auth.BEARER}})
    mute = ACCESS.model_copy(update={"upstream": silent})
    assert denied(lambda: policy.find_endpoint("POST", "/v1/responses", mute)) == ("api", "responses")
    assert policy.find_endpoint("POST", "/chat/completions", only_chat).api is Api.CHAT


@pytest.mark.parametrize(
    ("api", "query", "kept"),
    [
        (Api.ANTHROPIC, "", ""),
        (Api.ANTHROPIC, "beta=true", "beta=true"),
        (Api.GEMINI, "key=tb-1&alt=sse", "alt=sse"),
        (Api.GEMINI, "alt=json", ""),
    ],
)
def test_a_query_goes_up_only_as_far_as_it_streams(api, query, kept):
    assert policy.check_query(match("POST", PATHS[api]), query) == kept


@pytest.mark.parametrize(
    ("api", "query"),
    [
        (Api.ANTHROPIC, "beta=false"),
        (Api.ANTHROPIC, "beta=true&beta=true"),
        (Api.CHAT, "key=tb-1"),
        (Api.RESPONSES, "alt=sse"),
        (Api.GEMINI, "alt=media"),
        (Api.GEMINI, "uploadType=resumable"),
        (Api.GEMINI, "$alt=sse"),
    ],
)
def test_a_query_with_another_meaning_is_denied(api, query):
    assert denied(lambda: policy.check_query(match("POST", PATHS[api]), query))[0] == "query"


# ------------------------------------------------------------------------------------------------------- the token


def test_the_token_is_taken_wherever_a_client_gives_its_key():
    for name, value in [("x-api-key", "tb-1"), ("Authorization", "Bearer tb-1"), ("x-goog-api-key", "tb-1")]:
        policy.check_token(headers.credentials([(name, value)]), "tb-1")
    policy.check_token(policy.query_keys("alt=sse&key=tb-1"), "tb-1")


@pytest.mark.parametrize("given_", [[], [("x-api-key", "tb-2")], [("x-api-key", "")], [("x-api-key", "tb-1\udcff")]])
def test_no_token_and_another_token_are_denied_by_name(given_):
    rule, _ = denied(lambda: policy.check_token(headers.credentials(given_), "tb-1"))
    assert rule == "bad_token"


# -------------------------------------------------------------------------------------------------------- the body


def checked(api: Api, body: dict, path: str = "") -> None:
    endpoint = match("POST", path or PATHS[api])
    prepared = prepare(api, json.dumps(body).encode())
    policy.check_model(ACCESS, endpoint, facts(endpoint, prepared.value), prepared.value)
    policy.check_stored(endpoint, prepared.value)


@pytest.mark.parametrize("api", Api)
def test_a_usual_request_passes(api):
    checked(api, BODIES[api])


def test_a_suffix_is_no_matter_of_its_form_but_of_the_list():
    checked(Api.CHAT, {**BODIES[Api.CHAT], "model": "router/model:free"})
    rule = denied(lambda: checked(Api.CHAT, {**BODIES[Api.CHAT], "model": f"{MODEL}:online"}))
    assert rule == (Provided.WEB_SEARCH.value, f"model {MODEL}:online")


@pytest.mark.parametrize(
    ("api", "more", "named"),
    [
        (Api.ANTHROPIC, {"model": "model-2"}, "model-2"),
        (Api.ANTHROPIC, {"model": MODEL.upper()}, MODEL.upper()),
        (Api.ANTHROPIC, {"model": None}, "none is named"),
        (Api.CHAT, {"models": [MODEL, "model-2"]}, "model-2"),
        (Api.CHAT, {"models": "model-2"}, "model-2"),
        (Api.GEMINI, {"model": "models/model-2"}, "model-2"),
        (Api.GEMINI, {"generateContentRequest": {"model": "models/model-2"}}, "model-2"),
    ],
)
def test_every_model_that_a_body_names_must_be_allowed(api, more, named):
    assert denied(lambda: checked(api, {**BODIES[api], **more})) == ("model", named)


@pytest.mark.parametrize(
    ("api", "more", "named"),
    [
        (Api.RESPONSES, {"previous_response_id": "resp_1"}, "previous_response_id"),
        (Api.RESPONSES, {"conversation": {"id": "conv_1"}}, "conversation"),
        (Api.RESPONSES, {"input": [{"type": "item_reference", "id": "rs_1"}]}, "item_reference"),
        (Api.CHAT, {"preset": "mine"}, "preset"),
    ],
)
def test_context_kept_with_the_provider_is_denied(api, more, named):
    assert denied(lambda: checked(api, {**BODIES[api], **more})) == ("stored_context", named)


# ------------------------------------------------------------------------------------------------------- the headers


def test_only_named_headers_go_up_and_the_key_is_swapped():
    client = CIMultiDict(
        {
            "Authorization": "Bearer tb-1",
            "X-Api-Key": "tb-1",
            "User-Agent": "cli/1",
            "Cookie": "a=b",
            "X-Forwarded-For": "10.0.0.1",
            "OpenAI-Organization": "org",
            "Connection": "x-secret",
            "anthropic-version": "2023-06-01",
        }
    )
    for api, auth in AUTH.items():
        sent = headers.up(client, UPSTREAM, api, KEY, identity=False).headers
        name = {Auth.BEARER: "authorization"}.get(auth, auth.value)
        assert KEY in sent[name] and "tb-1" not in str(sent)
        expected = {"user-agent", "content-type", "accept-encoding", "anthropic-version", name}
        assert set(sent) == expected and sent["accept-encoding"] == "gzip"
    assert headers.up(client, UPSTREAM, Api.CHAT, KEY, identity=True).headers["accept-encoding"] == "identity"


def test_a_server_without_a_key_is_sent_none():
    local = UPSTREAM.model_copy(update={"auth": {Api.CHAT: Auth.NONE}, "billing": Billing.LOCAL})
    assert not {"authorization", "x-api-key"} & set(headers.up(CIMultiDict(), local, Api.CHAT, "", identity=False)[0])


@pytest.mark.parametrize(
    ("beta", "kind"),
    [
        ("mcp-client-2025-04-04", Provided.HOSTED_MCP),
        ("code-execution-2025-05-22", Provided.CODE_EXECUTION),
        ("files-api-2025-04-14", Provided.FILE_ID),
        ("computer-use-2025-01-24", Provided.COMPUTER_USE),
        ("web-fetch-2025-09-10", Provided.WEB_FETCH),
    ],
)
def test_betas_that_turn_on_what_runs_at_the_provider_are_taken_out_and_named(beta, kind):
    client = CIMultiDict({"anthropic-beta": f"claude-code-20250219, {beta},interleaved-thinking-2025-05-14"})
    sent = headers.up(client, UPSTREAM, Api.ANTHROPIC, KEY, identity=False)
    assert sent.headers["anthropic-beta"] == "claude-code-20250219,interleaved-thinking-2025-05-14"
    assert [(one.kind, one.name, one.where) for one in sent.stripped] == [(kind, beta, "header anthropic-beta")]


def test_a_subscription_is_a_bearer_with_the_beta_that_takes_it():
    plan = UPSTREAM.model_copy(update={"auth": {Api.ANTHROPIC: Auth.BEARER}, "billing": Billing.SUBSCRIPTION})
    sent = headers.up(CIMultiDict(), plan, Api.ANTHROPIC, KEY, identity=False).headers
    assert (sent["authorization"], sent["anthropic-beta"]) == (f"Bearer {KEY}", "oauth-2025-04-20")


def test_few_headers_come_down_and_quota_is_kept_apart():
    answer = CIMultiDict(
        {"content-type": "application/json", "set-cookie": "a", "x-ratelimit-remaining-tokens": "7", "retry-after": "2"}
    )
    assert headers.down(answer) == {"content-type": "application/json", "retry-after": "2"}
    assert headers.quota(answer.items()) == {"x-ratelimit-remaining-tokens": "7"}


# ------------------------------------------------------------------------------------------------ answers of our own


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 502, 503, 504])
def test_errors_are_in_each_apis_own_shape(api, status):
    said = shapes.error(api, status, "budget", "it is spent")
    value = json.loads(said.body)
    match api:
        case Api.ANTHROPIC:
            assert value["type"] == "error" and value["error"]["type"].endswith(("_error", "_large"))
        case Api.RESPONSES | Api.CHAT:
            assert value["error"]["code"] == "budget" and value["error"]["type"]
        case Api.GEMINI:
            assert value["error"]["code"] == status and value["error"]["status"].isupper()
    assert "it is spent" in value["error"]["message"]
    assert said.headers.get("x-should-retry") == ("false" if status < 500 else None)


def test_the_models_are_listed_in_the_askers_form():
    plain = json.loads(shapes.models(ACCESS, "/v1/models", None).body)
    assert [one["id"] for one in plain["data"]] == list(ACCESS.models)
    gemini = json.loads(shapes.models(ACCESS, "/v1beta/models", None).body)
    assert [one["name"] for one in gemini["models"]] == [f"models/{name}" for name in ACCESS.models]
    assert json.loads(shapes.models(ACCESS, "/v1/models/model-1", MODEL).body)["id"] == MODEL
    assert shapes.models(ACCESS, "/v1/models/other", "other").status == 404


# --------------------------------------------------------------------------------------------------------- redaction

SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60)
JUNK = st.binary(max_size=40)


@given(secret=SECRETS, before=JUNK, after=JUNK, cuts=st.lists(st.integers(0, 300), max_size=6))
def test_a_secret_is_found_in_every_form_however_the_stream_is_cut(secret, before, after, cuts):
    shown = [
        secret.encode(),
        quote(secret, safe="").encode(),
        json.dumps(secret)[1:-1].replace("/", "\\/").encode() if '"' not in secret and "\\" not in secret else b"",
        base64.b64encode(before + secret.encode() + after),
        base64.urlsafe_b64encode(b"user:" + secret.encode()),
    ]
    core = forms(secret)
    for one in shown:
        data = before + one + after
        redactor = Redactor([secret])
        edges = sorted({min(at, len(data)) for at in cuts} | {0, len(data)})
        out = b"".join(redactor.feed(data[a:b]) for a, b in pairwise(edges)) + redactor.close()
        assert [form for form in core if form in out] == []
        assert out == redactor.fresh().whole(data)


@given(st.lists(JUNK))
def test_what_holds_no_secret_passes_unchanged_and_waits_for_little(chunks):
    redactor = Redactor(["\x01\x02\x03\x04\x05\x06\x07\x08"])
    out = b"".join(map(redactor.feed, chunks)) + redactor.close()
    assert out == redactor.fresh().whole(b"".join(chunks))


def test_an_event_is_never_held_back():
    redactor = Redactor([KEY])
    assert redactor.feed(b'data: {"text": "the key is s"}\n\n').endswith(b"\n\n")
    assert redactor.feed(b"data: sk-re") == b"data: "
    assert redactor.feed(b"ason\n\n") == b"sk-reason\n\n"


def test_a_key_too_short_to_be_one_destroys_nothing():
    assert Redactor(["a", ""]).feed(b"banana") == b"banana"
    assert Redactor([KEY]).whole(KEY.encode()) == MARK


# ----------------------------------------------------------------------------------------------------------- budget

RATES = {Bucket.INPUT: 3_000_000, Bucket.OUTPUT: 15_000_000, Bucket.CACHE_READ: 300_000}


def used(prompt: int, answer: int):
    return usage({Bucket.INPUT: prompt, Bucket.OUTPUT: answer})


def test_the_request_after_the_budget_is_refused_not_the_one_that_spends_it():
    async def story() -> None:
        purse = Purse(Budget(tokens=100))
        await purse.admit(Hold(10, 500))
        purse.settle(Hold(10, 500), used(90, 9))
        await purse.admit(Hold(10, 500))
        purse.settle(Hold(10, 500), used(50, 0))
        with pytest.raises(Spent, match="149 of 100 tokens"):
            await purse.admit(Hold(1, 1))

    asyncio.run(story())


def test_cost_is_counted_by_bucket_and_a_bucket_without_a_rate_takes_its_containers():
    cap = CostCap(cap_pusd=10**12, rates_pusd=RATES)
    spent = usage(
        {Bucket.INPUT: 10, Bucket.CACHE_READ: 100, Bucket.CACHE_WRITE_1H: 1, Bucket.OUTPUT: 2, Bucket.REASONING: 1}
    )
    assert cap.cost_pusd(spent) == 10 * 3_000_000 + 100 * 300_000 + 3_000_000 + 3 * 15_000_000
    with pytest.raises(ValueError, match="rates of input and output"):
        CostCap(cap_pusd=1, rates_pusd={Bucket.INPUT: 1})


ENDS = ["whole", "cut", "none", "turned"]


@settings(max_examples=60)
@given(
    asks=st.lists(
        st.tuples(st.integers(0, 400), st.integers(1, 400), st.sampled_from(["whole", "cut", "none", "turned"]))
    ),
    requests=st.none() | st.integers(0, 20),
    tokens=st.none() | st.integers(0, 2000),
)
def test_many_at_once_keep_to_a_budget(asks, requests, tokens):
    """Whatever comes at once: at most one request's worth beyond the limit, and never a wait without an end."""

    async def one(purse: Purse, prompt: int, answer: int, end: str) -> None:
        hold = Hold(prompt, answer)
        try:
            await purse.admit(hold)
        except Spent:
            return
        await asyncio.sleep(0)
        ends = {"whole": used(prompt, answer), "cut": cut("cut"), "none": unavailable("none"), "turned": None}
        purse.settle(hold, ends[end])

    async def story() -> Purse:
        purse = Purse(Budget(requests=requests, tokens=tokens))
        await asyncio.wait_for(asyncio.gather(*(one(purse, *ask) for ask in asks)), 30)
        return purse

    purse = asyncio.run(story())
    if requests is not None:
        assert purse.requests <= requests
    if tokens is not None:
        assert purse.tokens <= tokens + max([p + a for p, a, _ in asks], default=0)


def test_leaving_early_is_not_free():
    async def story() -> Purse:
        purse = Purse(Budget(tokens=1000))
        hold = guess(300, 200)
        await purse.admit(hold)
        purse.settle(hold, cut("the client left"))
        return purse

    assert asyncio.run(story()).tokens == 300


# ---------------------------------------------------------------------------------------------------------- breaker


def broken(breaker: Breaker, who: str, times: int, fault: Fault = Fault.SERVER_ERROR) -> None:
    for _ in range(times):
        assert breaker.admits(who)
        breaker.ended(who, fault)


def test_a_breaker_opens_after_faults_in_a_row_and_tries_again_with_one():
    now = [0]
    breaker = Breaker(3, 1000, clock=lambda: now[0])
    for fault in (Fault.SERVER_ERROR, Fault.CONNECTION, None, Fault.TIMEOUT, Fault.STATUS_402, Fault.SERVER_ERROR):
        assert breaker.admits("a")
        breaker.ended("a", fault)
    assert not breaker.admits("a") and breaker.wait_ms("a") == 1000
    now[0] = 1000
    assert breaker.admits("a") and not breaker.admits("a")
    breaker.ended("a", Fault.SERVER_ERROR)
    assert not breaker.admits("a") and breaker.wait_ms("a") == 2000
    now[0] = 3000
    assert breaker.admits("a")
    breaker.withdrawn("a")
    assert breaker.admits("a")
    breaker.ended("a", None)
    assert breaker.admits("a") and breaker.admits("a")


def test_one_attempt_opens_no_circuit_but_its_own():
    now = [0]
    breaker = Breaker(4, 1000, clock=lambda: now[0])
    broken(breaker, "bad", 4)
    for _ in range(20):
        assert not breaker.admits("bad")
        now[0] += 200_000
        broken(breaker, "bad", 1)
    assert not breaker.admits("bad") and breaker.admits("good")
    breaker.ended("good", Fault.SERVER_ERROR)  # it counts no more than half of what it takes
    assert breaker.admits("good")
    breaker.ended("good", None)
    assert not breaker.admits("bad")
    now[0] += 200_000
    assert breaker.admits("bad")
    breaker.ended("bad", None)
    assert breaker.admits("bad") and breaker.admits("bad")


def test_several_attempts_open_the_circuit_for_all_and_a_probe_of_each_may_close_it():
    now = [0]
    breaker = Breaker(4, 1000, clock=lambda: now[0])
    broken(breaker, "a", 2)
    broken(breaker, "b", 2, Fault.CONNECTION)
    assert not any(breaker.admits(who) for who in "abc") and breaker.wait_ms("c") == 1000
    now[0] = 1000
    broken(breaker, "a", 1)
    assert not breaker.admits("a") and breaker.admits("b"), "a failed probe is the attempt's own until a second one is"
    breaker.ended("b", Fault.TIMEOUT)
    assert not breaker.admits("c") and breaker.wait_ms("c") == 2000
    now[0] = 3000
    assert breaker.admits("c") and not breaker.admits("c")
    breaker.ended("c", None)
    assert all(breaker.admits(who) for who in "abcd")


def test_an_attempt_that_is_over_counts_on_where_attempts_come_one_by_one():
    breaker = Breaker(4, 1000)
    for who in "abcd":
        broken(breaker, who, 1)
        breaker.forget(who)
    assert not breaker.admits("e")


@given(
    st.lists(st.sampled_from([None, *Fault]), max_size=60), st.lists(st.integers(0, 40_000), min_size=60, max_size=60)
)
def test_whatever_one_attempt_does_another_is_let_through(faults, times):
    now = [0]
    breaker = Breaker(3, 1000, clock=lambda: now[0])
    for fault, passed in zip(faults, times, strict=False):
        now[0] += passed
        if breaker.admits("bad"):
            breaker.ended("bad", fault)
        assert breaker.admits("good") and breaker.admits("good")


def test_what_is_one_requests_own_trouble_opens_no_breaker():
    breaker = Breaker(1, 1000)
    for fault in (Fault.RATE_LIMITED, Fault.CUT_STREAM, Fault.MALFORMED, None):
        assert breaker.admits("a")
        breaker.ended("a", fault)
    assert breaker.admits("a")

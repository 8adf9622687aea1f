"""What may go through, decided on the request line, the headers and the body alone: before any name is resolved.

The host is never the client's choice: what goes through goes to the attempt's own upstream. A request that names
another host, as through a proxy, is a recorded denial.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from harness.gateway.access import Access
from harness.gateway.decode import text
from harness.gateway.records import Api, Denial, Endpoint, Provided, WireRequest
from harness.gateway.usage import member
from harness.gateway.wire import match

LOCAL_NAMES = {"127.0.0.1", "localhost", "gateway", "[::1]"}

_NAMED = (
    (r"/files\b|/uploads?\b|/upload/", "files"),
    (r"/batches\b|:batch|:asyncBatch|/batch\b", "batches"),
    (r"/mcp\b|/mcp_|/toolbox\b", "hosted_mcp"),
    (r"/vector_stores\b|/fileSearchStores\b|/corpora\b", "file_search"),
    (r"/containers\b|/skills\b|/code_execution\b", "code_execution"),
    (r"/conversations\b|/threads\b|/assistants\b|/cachedContents\b|/prompts\b", "stored_context"),
    (r"/responses/|/chat/completions/|/interactions\b", "stored_context"),
    (r"/images?\b|/videos?\b|:predict", "image_generation"),
    (r"/event_logging\b|/telemetry\b|/metrics\b|/claude_code\b|/traces\b|/analytics|/statsig|/sentry", "telemetry"),
    (r"/embeddings\b|:embed", "embeddings"),
    (r"/audio\b|/realtime\b|:bidi", "realtime"),
    (r"/fine_tuning\b|/tunedModels\b|/organizations?\b|/oauth\b|/usage\b|/me\b|/account\b", "account"),
)
_KNOWN = tuple((re.compile(pattern, re.IGNORECASE), rule) for pattern, rule in _NAMED)
_MODEL_LIST = re.compile(r"/(v1(?:beta)?/)?models(?:/(?P<model>[^/?:]+))?")
_CANONICAL = {Api.RESPONSES: "/v1/responses", Api.CHAT: "/v1/chat/completions"}
_FALLBACKS = ("models", "fallbacks", "context_window_fallbacks", "content_policy_fallbacks")
_SEARCHING = (":online", "-online", ":search")
"""Suffixes by which routers turn a model into one that searches; one that is allowed by its whole name is meant."""


class Denied(Exception):
    """A request that is not let through."""

    def __init__(self, rule: str, detail: str = "", status: int = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(rule)
        self.denial = Denial(rule=rule, detail=text(detail) or "")
        self.status = int(status)


class Target(NamedTuple):
    """A request line: ``host`` as the client names it, ``path`` without its query."""

    host: str
    path: str
    query: str


def target(raw: str, host: str) -> Target:
    """The parts of a request line's target. A proxy's form (``GET http://host/path``) names its host itself."""
    if raw.startswith("/") or "://" not in raw:
        path, _, query = raw.partition("?")
        return Target(host, path, query)
    try:
        parts = urlsplit(raw)
    except ValueError:
        return Target(text(raw) or "", "", "")
    return Target(parts.netloc.rpartition("@")[2], parts.path or "/", parts.query)


def check_host(access: Access, host: str) -> None:
    """Only the gateway itself, or the upstream by its own name, can be meant.

    Raises:
        Denied: another host is.
    """
    name = host.lower()
    bare = name if name.endswith("]") else name.rpartition(":")[0] or name
    if bare in LOCAL_NAMES or not name or name == urlsplit(access.upstream.url).netloc.lower():
        return
    raise Denied("host", host)


def check_token(given: list[str], token: str) -> None:
    """The attempt's own token must be among what is given; whatever else is given goes nowhere.

    Raises:
        Denied: it is not.
    """
    if not any(hmac.compare_digest(one.encode("utf-8", "replace"), token.encode()) for one in given):
        raise Denied("bad_token", "no token" if not given else "another token", HTTPStatus.UNAUTHORIZED)


def query_keys(query: str) -> list[str]:
    """Keys that are given in the query, as Gemini's clients may."""
    return [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "key"]


def find_endpoint(method: str, path: str, access: Access) -> Endpoint:
    """The endpoint that is meant.

    Raises:
        Denied: none that the attempt may use; the rule names what it would have been.
    """
    endpoint = match(method, path)
    if endpoint is None:
        if match("POST", path) is not None:
            raise Denied("method", method, HTTPStatus.METHOD_NOT_ALLOWED)
        rule = next((rule for pattern, rule in _KNOWN if pattern.search(path)), "endpoint")
        raise Denied(rule, f"{method} {path}", HTTPStatus.NOT_FOUND)
    if endpoint.api not in access.apis or endpoint.api not in access.upstream.auth:
        raise Denied("api", endpoint.api.value, HTTPStatus.NOT_FOUND)
    return endpoint


def check_query(endpoint: Endpoint, query: str) -> str:
    """The query that goes up: what streams, and nothing that has another meaning.

    Raises:
        Denied: it holds something else, or something twice.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise Denied("query", "a name twice")
    kept = []
    for name, value in pairs:
        match endpoint.api, name, value:
            case Api.GEMINI, "key", _:
                continue
            case (Api.GEMINI, "alt", "sse") | (Api.ANTHROPIC, "beta", "true"):
                kept.append(f"{name}={value}")
            case Api.GEMINI, "alt", "json":
                continue
            case _:
                raise Denied("query", name)
    return "&".join(kept)


def upstream_path(endpoint: Endpoint, path: str) -> str:
    """The path that goes up: clients may leave out the version."""
    return _CANONICAL.get(endpoint.api, path)


def check_model(access: Access, endpoint: Endpoint, wire: WireRequest, body: Mapping[str, Any]) -> None:
    """Every model that a body names must be allowed by exactly its name.

    Raises:
        Denied: one is not, or none is named.
    """
    inner = member(body, "generateContentRequest") or member(body, "generate_content_request")
    named: list[object] = [wire.model]
    if endpoint.api is Api.GEMINI:
        named += [str(one["model"]).removeprefix("models/") for one in (body, inner) if "model" in one]
    # Routers fall back to these when the first can't be had.
    for name in _FALLBACKS:
        named += _models(body.get(name))
    for model in named:
        if not isinstance(model, str):
            raise Denied("model", "none is named")
        if model in access.models:
            continue
        if model.lower().endswith(_SEARCHING):
            raise Denied(Provided.WEB_SEARCH.value, f"model {model}")
        raise Denied("model", model)


def _models(value: object) -> list[object]:
    """The models that a router's list names: by name, as objects with one, or by what they stand in for."""
    match value:
        case None:
            return []
        case list():
            return [model for one in value for model in _models(one)]
        case {"model": model}:
            return [model]
        case dict():
            return _models(list(value.values()))
        case _:
            return [value]


def check_stored(endpoint: Endpoint, body: Mapping[str, Any]) -> None:
    """A body must hold its whole context: what a provider has kept was not seen here.

    Raises:
        Denied: it refers to some. Taking the reference out would leave a request that means something else.
    """
    names = ["preset"] if endpoint.api is Api.CHAT else []
    if endpoint.api is Api.RESPONSES:
        names = ["previous_response_id", "conversation"]
        items = body.get("input")
        if isinstance(items, list) and any(isinstance(i, dict) and i.get("type") == "item_reference" for i in items):
            raise Denied(Provided.STORED_CONTEXT.value, "item_reference")
    for name in names:
        if body.get(name) is not None:
            raise Denied(Provided.STORED_CONTEXT.value, name)


class Listing(NamedTuple):
    """A question after models that the gateway answers itself: one model's, or the list."""

    model: str | None


def answered_here(method: str, path: str) -> Listing | bool:
    """Whether the gateway answers by itself: clients ask after models, and whether anybody is there."""
    if method == "HEAD" and path in {"/", "/api/hello"}:
        return True
    found = _MODEL_LIST.fullmatch(path)
    if method in {"GET", "HEAD"} and found:
        return Listing(found["model"])
    return False

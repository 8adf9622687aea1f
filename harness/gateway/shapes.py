"""What the gateway answers by itself, in each API's own JSON, so that every client understands it at once."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, NamedTuple, assert_never

from harness.gateway.access import Access
from harness.gateway.records import Api, Endpoint

_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    503: "overloaded_error",
}
_GEMINI = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Answer(NamedTuple):
    """A whole answer of the gateway's own."""

    status: int
    headers: dict[str, str]
    body: bytes


def error(api: Api, status: int, rule: str, detail: str, *, retry_after_s: int | None = None) -> Answer:
    """An error. ``retry_after_s`` says when to ask again; without it a client is told not to."""
    message = f"refused by the gateway: {rule}" + (f" ({detail})" if detail else "")
    if status >= 500:
        message = f"the provider could not be reached: {rule}" + (f" ({detail})" if detail else "")
    again = retry_after_s is not None
    headers = {"x-should-retry": "true" if again else "false"} if status < 500 or again else {}
    if again:
        headers["retry-after"] = str(retry_after_s)
    return _json(status, _error(api, status, rule, message), headers)


def _error(api: Api, status: int, rule: str, message: str) -> dict[str, Any]:
    match api:
        case Api.ANTHROPIC:
            kind = _ANTHROPIC.get(status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": message}}
        case Api.RESPONSES | Api.CHAT:
            kind = "server_error" if status >= 500 else "invalid_request_error"
            return {"error": {"message": message, "type": kind, "param": None, "code": rule}}
        case Api.GEMINI:
            state = _GEMINI.get(status, "INTERNAL")
            return {"error": {"code": status, "message": message, "status": state, "details": []}}
        case _:
            assert_never(api)


def meant(path: str, endpoint: Endpoint | None, access: Access) -> Api:
    """The format that a client most likely speaks."""
    if endpoint is not None:
        return endpoint.api
    if path.startswith("/v1beta"):
        return Api.GEMINI
    if path.startswith(("/v1/messages", "/api/")):
        return Api.ANTHROPIC
    return access.apis[0] if access.apis else Api.CHAT


def here() -> Answer:
    """That somebody is there."""
    return Answer(HTTPStatus.OK, {}, b"")


def models(access: Access, path: str, wanted: str | None) -> Answer:
    """The allowed models, or one of them, in a form that is Anthropic's and OpenAI's at once, or in Gemini's."""
    gemini = path.startswith("/v1beta")
    known = [name for name in access.models if wanted in {None, name}]
    if not known and wanted is not None:
        return error(meant(path, None, access), HTTPStatus.NOT_FOUND, "model", wanted[:200])
    described = [_gemini_model(name) if gemini else _model(name) for name in known]
    if wanted is not None:
        return _json(HTTPStatus.OK, described[0], {})
    if gemini:
        return _json(HTTPStatus.OK, {"models": described}, {})
    ends = {"first_id": known[0] if known else None, "last_id": known[-1] if known else None}
    return _json(HTTPStatus.OK, {"object": "list", "data": described, "has_more": False, **ends}, {})


def _model(name: str) -> dict[str, Any]:
    made = {"created": 0, "created_at": "1970-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "type": "model", "display_name": name, "owned_by": "gateway", **made}


def _gemini_model(name: str) -> dict[str, Any]:
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}


def _json(status: int, value: dict[str, Any], headers: dict[str, str]) -> Answer:
    return Answer(int(status), {"content-type": "application/json", **headers}, json.dumps(value).encode())

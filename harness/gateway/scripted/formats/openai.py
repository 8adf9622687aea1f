"""What OpenAI's two formats share."""

from __future__ import annotations

from typing import Any

from harness.gateway.scripted.answer import Problem

_ERRORS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("billing_error", "insufficient_credits"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    500: ("server_error", "server_error"),
    503: ("server_error", "overloaded"),
}


def error(problem: Problem) -> dict[str, Any]:
    """An error's body; the request id is in a header alone."""
    kind, code = _ERRORS.get(problem.status, ("server_error", None))
    return {"error": {"message": problem.message, "type": kind, "param": None, "code": problem.name or code}}

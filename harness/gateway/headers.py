"""The headers that pass the gateway, by name: what goes up, what comes down, and what is kept of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, assert_never

from harness.gateway.access import Auth, Billing, Upstream
from harness.gateway.decode import text
from harness.gateway.records import Api, Provided, Stripped

SECRET = ("x-api-key", "authorization", "x-goog-api-key", "api-key", "proxy-authorization", "cookie")
"""Headers that may hold a key. None of them is passed on as it is."""

_UP = ("accept", "user-agent", "anthropic-version", "x-app")
_DOWN = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id")
_QUOTA = ("anthropic-ratelimit-", "x-ratelimit-", "x-codex-", "ratelimit")
_MAX_QUOTA = 64

_BETAS = (
    ("mcp-", Provided.HOSTED_MCP),
    ("code-execution-", Provided.CODE_EXECUTION),
    ("skills-", Provided.CODE_EXECUTION),
    ("web-search-", Provided.WEB_SEARCH),
    ("web-fetch-", Provided.WEB_FETCH),
    ("computer-use-", Provided.COMPUTER_USE),
    ("files-api-", Provided.FILE_ID),
    ("message-batches-", Provided.BACKGROUND),
    ("managed-agents-", Provided.BACKGROUND),
    ("fast-mode-", Provided.OTHER_TERMS),
)
"""Betas that turn on what runs or is kept at the provider. Others only change a format, and the body is cut anyway."""
_SUBSCRIPTION_BETA = "oauth-2025-04-20"
"""Without it the API takes no subscription's bearer."""
_PROVES_WHO_ASKS = "oauth-"
"""Betas of this kind are the gateway's to send: by one that does not fit the key a client could have it refused."""


class Up(NamedTuple):
    """The headers of a request that goes up, and what was taken out of the client's."""

    headers: dict[str, str]
    stripped: tuple[Stripped, ...]


def credentials(headers: Iterable[tuple[str, str]]) -> list[str]:
    """What a client gives in headers that may hold a key, without the scheme's name."""
    found = []
    for name, value in headers:
        if name.lower() in SECRET:
            scheme, _, rest = value.strip().partition(" ")
            found.append(rest.strip() if rest and scheme.lower() in {"bearer", "basic", "token"} else value.strip())
    return [one for one in found if one]


def up(client: Mapping[str, str], upstream: Upstream, api: Api, key: str, *, identity: bool) -> Up:
    """The headers that go up: a few of the client's, by name, and the real key.

    Args:
        client: the client's headers, case-insensitive.
        upstream: whose they are to be.
        api: the format.
        key: the real key; empty where there is none.
        identity: whether the answer must not be compressed.
    """
    headers = {name: client[name] for name in _UP if name in client}
    headers |= {"content-type": "application/json", "accept-encoding": "identity" if identity else "gzip"}
    stripped: list[Stripped] = []
    if api is Api.ANTHROPIC:
        kept = []
        for beta in [one.strip() for one in client.get("anthropic-beta", "").split(",") if one.strip()]:
            if beta.lower().startswith(_PROVES_WHO_ASKS):
                continue
            kind = next((kind for start, kind in _BETAS if beta.lower().startswith(start)), None)
            if kind is None:
                kept.append(beta)
            else:
                stripped.append(Stripped(kind=kind, name=text(beta) or "beta", where="header anthropic-beta"))
        if upstream.billing is Billing.SUBSCRIPTION:
            kept.append(_SUBSCRIPTION_BETA)
        if kept:
            headers["anthropic-beta"] = ",".join(kept)
        headers.setdefault("anthropic-version", "2023-06-01")
    return Up(headers | _key_header(upstream.auth[api], key), tuple(stripped))


def _key_header(auth: Auth, key: str) -> dict[str, str]:
    match auth:
        case Auth.X_API_KEY | Auth.X_GOOG_API_KEY:
            return {auth.value: key}
        case Auth.BEARER:
            return {"authorization": f"Bearer {key}"}
        case Auth.NONE:
            return {}
        case _:
            assert_never(auth)


def down(upstream: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer that a client gets."""
    return {name: upstream[name] for name in _DOWN if name in upstream}


def quota(upstream: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The rate-limit and quota headers of an answer."""
    found: dict[str, str] = {}
    for name, value in upstream:
        lower = name.lower()
        if lower.startswith(_QUOTA) and len(found) < _MAX_QUOTA:
            found[lower[:100]] = text(value) or ""
    return found

"""Where models are: the providers that are known by name, and a user's own from ``config.toml``.

A key is never here: an upstream names the environment variable that holds it, and :func:`credential` reads it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from harness.errors import UserError
from harness.gateway.access import Auth, Billing, Upstream
from harness.gateway.records import Api
from harness.suites.parse import FileModel

SCRIPTED = "scripted"
"""The provider of a dry run: a script, on this machine."""

_NATIVE = {
    Api.ANTHROPIC: Auth.X_API_KEY,
    Api.RESPONSES: Auth.BEARER,
    Api.CHAT: Auth.BEARER,
    Api.GEMINI: Auth.X_GOOG_API_KEY,
}
"""How a key is given where nothing else is said."""

KNOWN = {
    one.name: one
    for one in (
        Upstream(
            name="anthropic",
            url="https://api.anthropic.com",
            auth={Api.ANTHROPIC: Auth.X_API_KEY},
            credential="ANTHROPIC_API_KEY",
        ),
        Upstream(
            name="openai",
            url="https://api.openai.com",
            auth={Api.RESPONSES: Auth.BEARER, Api.CHAT: Auth.BEARER},
            credential="OPENAI_API_KEY",
        ),
        Upstream(
            name="google",
            url="https://generativelanguage.googleapis.com",
            auth={Api.GEMINI: Auth.X_GOOG_API_KEY},
            credential="GEMINI_API_KEY",
        ),
        Upstream(
            name="openrouter",
            url="https://openrouter.ai/api",
            auth={Api.CHAT: Auth.BEARER},
            credential="OPENROUTER_API_KEY",
        ),
    )
}

EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


class Own(FileModel):
    """``[providers.NAME]``: a provider of the user's own, or other terms for a known one."""

    url: Annotated[str, Field(max_length=500)] | None = None
    """Its base, with or without ``/v1`` at the end."""
    api: tuple[Api, ...] | None = None
    """The formats that it speaks; ``chat`` by default, which every compatible server does."""
    auth: Auth | None = None
    """The header that takes the key; by default what each format's own provider uses."""
    credential: EnvName | None = None
    """The environment variable with the key. Without one none is sent."""
    billing: Billing | None = None
    """``local`` by default for a server on this machine, otherwise ``api``."""


def upstreams(own: Mapping[str, Own], where: str) -> dict[str, Upstream]:
    """Every provider by name: the known ones, and the user's own over them.

    Args:
        own: the user's table.
        where: the file that it is in, for errors.

    Raises:
        UserError: one of the user's can't be used.
    """
    return {**KNOWN, **{name: _own(name, one, f"{where}: providers.{name}") for name, one in own.items()}}


def scripted(url: str, name: str = SCRIPTED) -> Upstream:
    """The scripted provider at an address: it speaks every format, and costs nothing."""
    return Upstream(name=name, url=url, auth=dict(_NATIVE), billing=Billing.LOCAL)


@dataclass(frozen=True)
class Credential:
    """A key, or why there is none. Its text shows in no repr."""

    upstream: str
    key: str | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"Credential({self.upstream!r}, {'a key' if self.key else self.reason!r})"


def credential(upstream: Upstream, environ: Mapping[str, str]) -> Credential:
    """The key that an upstream needs, or why there is none; an empty one where it needs none."""
    name = upstream.credential
    if name is None:
        return Credential(upstream.name, "")
    key = environ.get(name, "").strip()
    if not key:
        return Credential(upstream.name, None, f"no key: the environment has no {name}")
    if not key.isascii() or not key.isprintable() or " " in key:
        return Credential(upstream.name, None, f"no key: {name} holds spaces or characters that no key has")
    return Credential(upstream.name, key)


def _own(name: str, own: Own, where: str) -> Upstream:
    if name == SCRIPTED:
        raise UserError(where, "is the name of dry runs' own provider", "choose another name")
    known = KNOWN.get(name)
    if own.url is None and known is None:
        raise UserError(f"{where}.url", "this key is missing", 'such as "http://127.0.0.1:8000"')
    url = known.url if own.url is None and known else _base(own.url or "", where)
    local = _is_here(url)
    taken = own.credential or (known.credential if known else None)
    billing = own.billing or (Billing.LOCAL if local and known is None else Billing.API)
    if taken is not None and url.startswith("http:") and not local:
        raise UserError(f"{where}.url", "would carry a key in the clear", "use https, or name no credential")
    if taken is None and billing is not Billing.LOCAL:
        problem = f"is missing, and {billing.value} billing needs a key"
        raise UserError(f"{where}.credential", problem, 'name the environment variable, or say billing = "local"')
    auth = known.auth if known and own.api is None else {api: _NATIVE[api] for api in own.api or (Api.CHAT,)}
    if taken is None:
        auth = dict.fromkeys(auth, Auth.NONE)
    elif own.auth is not None:
        auth = dict.fromkeys(auth, own.auth)
    elif billing is Billing.SUBSCRIPTION:
        auth = dict.fromkeys(auth, Auth.BEARER)
    try:
        return Upstream(name=name, url=url, auth=auth, credential=taken, billing=billing)
    except ValueError as error:
        raise UserError(where, "has a name or an address that can't be used", "see docs/spending.md") from error


def _base(url: str, where: str) -> str:
    """The base of an address. A user's own base often ends in ``/v1``, which the format's paths bring themselves."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or parts.query or parts.fragment or "@" in parts.netloc:
        shown = "is no address of a server" if "@" not in url else "holds a user or a password"
        raise UserError(f"{where}.url", shown, 'such as "http://127.0.0.1:8000"; a key belongs into the environment')
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def _is_here(url: str) -> bool:
    """Whether an address is this machine's by its own text: nothing is looked up."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

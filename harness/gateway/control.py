"""What a run and its gateway process say to each other: one JSON object a line, over the gateway's own pipes.

The first line to the gateway is :class:`Start`, with the keys; each further line is a call with a number, and is
answered by a line with the same number. The gateway ends when its standard input does. Scripts are played by a gateway
that can't reach a provider on this host.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from harness.gateway.access import Access, Closed
from harness.gateway.scripted.script import Script
from harness.gateway.scripted.served import Served
from harness.gateway.settings import Settings


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Start(_Message):
    """Where to keep things, and the keys by upstream."""

    store: str
    folder: str
    keys: dict[str, SecretStr]
    settings: Settings
    certificates: str | None = None
    """What to trust, as PEM, in place of what its own system does."""


class Open(_Message):
    """Make a door. ``key`` takes the place of the upstream's own."""

    op: Literal["open"] = "open"
    number: int
    access: Access
    key: SecretStr | None = None
    place: str | None = None
    """The folder of its socket, which is there and empty. What the door writes then goes into a store of its own."""


class Close(_Message):
    """Close a door for good."""

    op: Literal["close"] = "close"
    number: int
    door: str


class Forget(_Message):
    """Remove a closed door's own store, which was read."""

    op: Literal["forget"] = "forget"
    number: int
    door: str


class Play(_Message):
    """Have the scripted provider answer by a script whoever gives the key."""

    op: Literal["play"] = "play"
    number: int
    script: Script
    key: SecretStr


class Truth(_Message):
    """Ask what the scripted provider served to a key."""

    op: Literal["truth"] = "truth"
    number: int
    key: SecretStr


Question = Open | Close | Forget | Play | Truth


class Call(_Message):
    """Any call."""

    call: Question = Field(discriminator="op")


class Opened(_Message):
    """A door that is served."""

    id: str
    folder: str
    token: str


class Reply(_Message):
    """The answer to a call: exactly one of its fields besides the number."""

    number: int
    opened: Opened | None = None
    closed: Closed | None = None
    played: str | None = None
    """The scripted provider's base URL."""
    truth: tuple[Served, ...] | None = None
    problem: str | None = None


def plain(message: BaseModel) -> bytes:
    """A message as a line, its keys in the clear: for the pipe alone."""
    value = message.model_dump(mode="json", by_alias=True)
    match message:
        case Start():
            value["keys"] = {name: key.get_secret_value() for name, key in message.keys.items()}
        case Call(call=Open(key=SecretStr() as key) | Play(key=key) | Truth(key=key)):
            value["call"]["key"] = key.get_secret_value()
        case _:
            pass
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"

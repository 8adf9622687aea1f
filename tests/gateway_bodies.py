"""Requests as clients send them, and what the gateway makes of them."""

from __future__ import annotations

import json

from harness.gateway.records import Api, Provided
from harness.gateway.wire import prepare

P = Provided
CUT = "[taken out by the gateway: {}]"


def prepared(api, value):
    """The body that goes out, and what was taken out as (kind, name, where)."""
    done = prepare(api, json.dumps(value).encode())
    left = json.loads(done.body)
    assert left == done.value
    if api is Api.RESPONSES and "store" not in value:
        assert left.pop("store") is False
    return left, [(one.kind, one.name, one.where) for one in done.stripped]

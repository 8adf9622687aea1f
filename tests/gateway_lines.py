"""Web traces made up line by line, for tests that need no gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.digest import sha256_bytes
from harness.gateway.records import (
    AttemptTraffic,
    Bucket,
    Denial,
    Fault,
    Metered,
    Provided,
    TraceLine,
    Usage,
    WireRequest,
)
from harness.gateway.usage import total, usage
from harness.records import BlobRef, to_json
from harness.store import Store
from harness.traffic import Traffic, billed, exchanges

MESSAGES = "/v1/messages"


def tokens(**counts: int) -> Usage:
    """A complete usage; buckets that are not named are zero."""
    return usage(dict.fromkeys(Bucket, 0) | {Bucket(name): value for name, value in counts.items()})


def line(
    status: int | None = 200,
    *,
    used: Usage | None = None,
    model: str | None = "m",
    request_id: str | None = None,
    sent: bytes | None = None,
    path: str = MESSAGES,
    fault: Fault | None = None,
    denial: str = "",
    refused: bool = False,
    effort: str | None = None,
) -> dict[str, Any]:
    """One exchange, not yet chained."""
    answer = Metered(
        usage=used or tokens(input=10, output=5), model=model, request_id=request_id, finish="stop", refused=refused
    )
    return {
        "at_us": 1,
        "method": "POST",
        "host": "api.example",
        "path": path,
        "status": status,
        "fault": fault,
        "denial": Denial(rule=denial) if denial else None,
        "request": WireRequest(model=model, effort=effort, stream=False),
        "sent": None
        if sent is None
        else BlobRef(digest=sha256_bytes(sent), size=len(sent), media_type="application/json"),
        "answer": None if denial or status is None else answer,
    }


def chained(lines: Sequence[dict[str, Any]]) -> tuple[TraceLine, ...]:
    """The lines as a trace holds them."""
    made: list[TraceLine] = []
    for seq, one in enumerate(lines):
        prev = sha256_bytes(to_json(made[-1])) if made else None
        made.append(TraceLine(seq=seq, prev=prev, **one))
    return tuple(made)


def traffic(*lines: dict[str, Any], budget_refused: bool = False, **short: Any) -> Traffic:
    """What a gateway would hand over for these lines."""
    made = chained(lines)
    allowed = billed(made)
    ended = allowed[-1].fault if allowed else None
    stripped: dict[Provided, int] = {}
    return Traffic(
        AttemptTraffic(
            requests=len(allowed),
            denied=sum(one.denial is not None for one in made),
            stripped=short.pop("stripped", stripped),
            retries=0,
            usage=total((one.request_id, one.usage) for one in exchanges(made)),
            requested_models=tuple(
                dict.fromkeys(one.request.model for one in allowed if one.request and one.request.model)
            ),
            served_models=tuple(dict.fromkeys(one.model for one in exchanges(made) if one.model)),
            efforts=tuple(dict.fromkeys(one.request.effort for one in allowed if one.request and one.request.effort)),
            last_line=sha256_bytes(to_json(made[-1])) if made else None,
            faults=tuple(one.fault for one in allowed if one.fault),
            outlasting=ended,
            budget_refused=budget_refused,
            **short,
        ),
        made,
    )


def kept(store: Store, seen: Traffic) -> BlobRef:
    """The trace in a store."""
    return store.put(b"".join(to_json(one) + b"\n" for one in seen.lines), "application/x-ndjson")

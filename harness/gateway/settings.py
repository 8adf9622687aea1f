"""How patient a gateway is, apart from what needs an HTTP library to say it."""

from __future__ import annotations

from harness.records import Count, Record


class Settings(Record):
    """How patient a gateway is. Times are in milliseconds where they say so, else in seconds."""

    connect_s: Count = 20
    head_s: Count = 60
    """How long a client's request may take until its head is whole."""
    idle_s: Count = 600
    """How long an upstream may say nothing."""
    drain_s: Count = 120
    """How long an answer is read on after its client has left, so that its usage is known."""
    breaker_faults: Count = 8
    breaker_pause_ms: Count = 15_000

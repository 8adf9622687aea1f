"""What one attempt may reach, and for how much: the contract between a run, its gateway and its solvers.

Nothing here holds a secret: an upstream names the host's environment variable that does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.gateway.records import CONTAINER, Api, AttemptTraffic, Bucket, Fault, Usage
from harness.records import BlobRef, Count, Record

__all__ = ["Access", "Auth", "Billing", "Budget", "Closed", "CostCap", "Fault", "Upstream"]

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


class Billing(StrEnum):
    """How an upstream's tokens are paid for."""

    API = "api"
    """By the token."""
    SUBSCRIPTION = "subscription"
    """By the month: a token has no price of its own."""
    LOCAL = "local"
    """By nobody: a server of one's own."""


class Auth(StrEnum):
    """The header in which an upstream takes its key, also the one in which a client gives its token."""

    X_API_KEY = "x-api-key"
    BEARER = "bearer"
    X_GOOG_API_KEY = "x-goog-api-key"
    NONE = "none"
    """No key at all (a local server). The client's token is asked for all the same."""


class Upstream(Record):
    """Where a provider is.

    ``url`` is its base without a trailing slash and without ``/v1``. ``auth`` has the formats it speaks and how each
    authenticates. ``credential`` is the name of the host's environment variable that holds the key.
    """

    name: Name
    url: Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*[^/?#@\s])?$")]
    auth: dict[Api, Auth]
    credential: str | None = None
    billing: Billing = Billing.API

    @property
    def metered(self) -> bool:
        """Whether using it costs anybody anything."""
        return self.billing is not Billing.LOCAL


class CostCap(Record):
    """The most that may be spent, in picodollars, and what a token of each bucket costs.

    A bucket without a rate takes that of the bucket which contains it.
    """

    cap_pusd: Count
    rates_pusd: dict[Bucket, Count]

    @model_validator(mode="after")
    def _prices_all(self) -> Self:
        if not {Bucket.INPUT, Bucket.OUTPUT} <= set(self.rates_pusd):
            raise ValueError("a cap on cost needs the rates of input and output, which contain the others")
        return self

    def cost_pusd(self, usage: Usage) -> int:
        """What the stated tokens of a usage cost."""
        return sum((usage.of(bucket) or 0) * self.rate(bucket) for bucket in Bucket)

    def rate(self, bucket: Bucket) -> int:
        """Picodollars for a token of a bucket."""
        while bucket not in self.rates_pusd:
            bucket = CONTAINER[bucket]
        return self.rates_pusd[bucket]


class Budget(Record):
    """What one attempt may use; None is no limit. The request after a limit is reached is refused."""

    requests: Count | None = None
    """Billed requests that reached the upstream."""
    tokens: Count | None = None
    """Over all buckets."""
    cost: CostCap | None = None


class Access(Record):
    """What one attempt may do: these formats, at this upstream, for these models by exactly these names."""

    upstream: Upstream
    apis: tuple[Api, ...]
    models: tuple[str, ...]
    """Side models that the agent asks for by itself included."""
    budget: Budget = Budget()


class Closed(Record):
    """What an attempt's door hands over when it is closed."""

    trace: BlobRef
    """JSON lines of :class:`~harness.gateway.records.TraceLine`, each chained to the one before, in the store."""
    traffic: AttemptTraffic
    problem: str = ""
    """Why the trace is not whole; empty if it is."""

"""What tokens cost by a dated table of published prices: exact, cache-aware, and never invented.

A cost is decimal US dollars to the last digit; only a display rounds. It is an estimate at list prices, not a receipt.
A model that the table does not have, a bucket without a rate, or a usage that is not complete is ``unpriced`` with its
reason; a rate of zero is a price.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from harness import digest
from harness.digest import Digest
from harness.errors import UserError
from harness.gateway.records import CONTAINER, Bucket, Completeness, Usage
from harness.records import Count, Record
from scoring.figures import DecimalString, Figure, known, missing

PER_MILLION = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?$")]
"""US dollars for a million tokens."""

_EXACT = Context(prec=80, traps=[Inexact])


class Rates(Record):
    """One tier's rates. None where no source gives one; ``reasoning`` None is billed as output."""

    input: PER_MILLION
    cache_read: PER_MILLION | None = None
    cache_write_5m: PER_MILLION | None = None
    cache_write_1h: PER_MILLION | None = None
    output: PER_MILLION
    reasoning: PER_MILLION | None = None

    def of(self, bucket: Bucket) -> str | None:
        """The rate of one bucket."""
        rate: str | None = getattr(self, bucket.value)
        return self.output if rate is None and bucket is Bucket.REASONING else rate


class LongContext(Record):
    """Above so many prompt tokens, cached ones included, the whole request is billed by these rates."""

    above: Count
    rates: Rates | None
    """None where the tier is known but no source gives its rates: such a request is unpriced."""


class Price(Record):
    """The price of one model. ``sources`` says for each rate where it is from."""

    provider: str
    models: Annotated[tuple[str, ...], Field(min_length=1)]
    """The names under which the provider serves it; matched exactly."""
    rates: Rates
    long_context: LongContext | None = None
    sources: dict[str, str]

    @model_validator(mode="after")
    def _sourced(self) -> Self:
        stated = {bucket.value for bucket in Bucket if getattr(self.rates, bucket.value) is not None}
        stated |= {"long_context"} if self.long_context else set()
        if stated != set(self.sources):
            raise ValueError(f"sources are needed for {sorted(stated)}, given for {sorted(self.sources)}")
        return self


class PriceTable(Record):
    """Prices as published at a date."""

    schema_version: Annotated[int, Field(ge=1, le=1)]
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    unit: Annotated[str, Field(pattern=r"^USD per million tokens$")]
    note: str
    prices: tuple[Price, ...]

    @model_validator(mode="after")
    def _one_price_a_model(self) -> Self:
        names = [name for price in self.prices for name in price.models]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two prices for {twice[0]}")
        return self

    @property
    def digest(self) -> str:
        """The digest over the table's canonical form: what a card names beside a cost."""
        return digest.digest(self.model_dump(mode="json"))

    def find(self, model: str) -> Price | None:
        """The price of a model, by its exact name."""
        return next((price for price in self.prices if model in price.models), None)


def read_table(data: bytes, where: str) -> PriceTable:
    """A price table from the bytes of its JSON file.

    Raises:
        UserError: the file is no price table.
    """
    try:
        return PriceTable.model_validate(digest.loads(data))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the table"
        raise UserError(
            f"{where}: {field}", first["msg"], "see docs/gateway.md for the fields of a price table"
        ) from error
    except ValueError as error:
        raise UserError(
            where, f"is not JSON: {error}", "see docs/gateway.md for the fields of a price table"
        ) from error


class Basis(StrEnum):
    """What a sum of money is: views of one run that are never added up."""

    API_ESTIMATE = "api_estimate"
    """Published rates times usage, where they are what is paid by."""
    MARGINAL_CASH = "marginal_cash"
    """What a subscription paid on top: overage."""
    ALLOCATED_FEE = "allocated_fee"
    """The share of a subscription's fee."""
    API_EQUIVALENT = "api_equivalent"
    """Published rates times usage, where something else is paid."""


class Cost(Record):
    """One exchange's cost, or the sum of several; or the reason why there is none."""

    usd: DecimalString | None
    reason: str = ""
    basis: Basis = Basis.API_ESTIMATE
    parts: dict[Bucket, DecimalString] = Field(default_factory=dict)
    long_context: bool = False
    """Billed, the whole request, by the long-context rates."""
    table: Digest | None = None

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if (self.usd is None) != bool(self.reason):
            raise ValueError("a cost has a value or a reason")
        return self


def price(table: PriceTable, model: str | None, usage: Usage, basis: Basis = Basis.API_ESTIMATE) -> Cost:
    """The cost of one exchange, by the model that the provider says it served.

    Price each exchange by itself: a sum of usages no longer tells which request was a long one.
    """
    found = table.find(model) if model else None
    if found is None:
        named = f"no price for {model}" if model else "the served model is unknown"
        return _unpriced(table, basis, f"unpriced: {named} (prices of {table.date})")
    if usage.completeness is not Completeness.COMPLETE:
        return _unpriced(table, basis, f"unpriced: {usage.completeness.value}: {usage.reason}")
    tier = found.long_context if found.long_context and usage.prompt > found.long_context.above else None
    rates = tier.rates if tier else found.rates
    if rates is None:
        above = tier.above if tier else 0
        return _unpriced(table, basis, f"unpriced: no rates for {model} above {above} prompt tokens")
    parts: dict[Bucket, DecimalString] = {}
    for bucket in Bucket:
        tokens, rate = usage.of(bucket), rates.of(bucket)
        if tokens is None:
            container = rates.of(CONTAINER[bucket])
            if rate is not None and rate != container:
                why = f"{bucket.value} has a rate of its own and the answer does not set it apart"
                return _unpriced(table, basis, f"unpriced: {why}")
        elif rate is not None:
            parts[bucket] = times(tokens, rate)
        elif tokens:
            return _unpriced(table, basis, f"unpriced: no {bucket.value} rate for {model}")
    usd = add(parts.values())
    return Cost(usd=usd, basis=basis, parts=parts, long_context=tier is not None, table=table.digest)


def _unpriced(table: PriceTable, basis: Basis, reason: str) -> Cost:
    return Cost(usd=None, reason=reason, basis=basis, table=table.digest)


def times(tokens: int, rate: str) -> str:
    """What so many tokens cost at a rate, exact."""
    return _plain(_EXACT.scaleb(_EXACT.multiply(Decimal(tokens), Decimal(rate)), -6))


def add(values: Iterable[str]) -> str:
    """The sum of decimal texts, exact."""
    sum_ = Decimal(0)
    for value in values:
        sum_ = _EXACT.add(sum_, Decimal(value))
    return _plain(sum_)


def _plain(value: Decimal) -> str:
    """Without an exponent and without zeros at the end: one text for one value."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def total(costs: Iterable[Cost]) -> Cost:
    """The sum, exact; None as soon as one is unpriced, since a sum without it would look like all.

    Raises:
        ValueError: the costs are of different bases, which are views of the same usage, or of different tables.
    """
    listed = list(costs)
    if not listed:
        return Cost(usd=None, reason="nothing was spent or measured")
    if len({(one.basis, one.table) for one in listed}) > 1:
        raise ValueError("costs of different bases or price tables are never added")
    first, open_ones = listed[0], [one for one in listed if one.usd is None]
    if open_ones:
        reason = f"{len(open_ones)} of {len(listed)} have no cost: {open_ones[0].reason}"
        return Cost(usd=None, reason=reason, basis=first.basis, table=first.table)
    return Cost(
        usd=add(one.usd for one in listed if one.usd is not None),
        basis=first.basis,
        parts={
            bucket: add(one.parts[bucket] for one in listed if bucket in one.parts)
            for bucket in Bucket
            if any(bucket in one.parts for one in listed)
        },
        long_context=any(one.long_context for one in listed),
        table=first.table,
    )


def per_solved(spent: Cost, solved: int) -> Figure:
    """US dollars for one solved task: the cost of all attempts, failed ones included, over the solved tasks."""
    if spent.usd is None:
        return missing(spent.reason)
    if solved <= 0:
        return missing("nothing was solved")
    return known(Fraction(spent.usd) / solved)

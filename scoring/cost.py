"""What attempts cost, from the exchanges that the gateway metered: four views of one run, which are never added.

Every try counts, repeated and abandoned ones included. A figure with any part unknown is None with its reason; beside
it stands what is known (``at_least_usd``), which leaves the unknown part out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import assert_never

from harness.gateway.access import Billing
from harness.gateway.records import CONTAINER, Bucket, Usage
from harness.records import Count, Record
from harness.traffic import Exchange
from scoring.figures import DecimalString, Figure, missing
from scoring.prices import Basis, Cost, PriceTable, Rates, add, per_solved, price, times, total

DRY = "a dry run: nothing was spent"
NOT_METERED = "what it used is not known"


class View(Record):
    """One view of what a solver's tries cost together."""

    basis: Basis
    usd: DecimalString | None
    reason: str = ""
    at_least_usd: DecimalString | None = None
    """What is known of it; None where the view does not apply."""
    priced: Count = 0
    """Tries whose cost is known to the end."""
    of: Count = 0
    per_solved: Figure
    """US dollars for one solved cell: all tries' cost over the solved ones."""
    at_least_per_solved: Figure | None = None
    """The same of what is known, where not all is."""


def basis_of(billing: Billing) -> Basis:
    """The view in which published rates times usage stand for this kind of billing."""
    return Basis.API_ESTIMATE if billing is Billing.API else Basis.API_EQUIVALENT


def attempt_cost(table: PriceTable, used: Iterable[Exchange], basis: Basis) -> Cost:
    """What one attempt's exchanges cost, each priced by itself; an attempt without any cost nothing."""
    listed = list(used)
    if not listed:
        return Cost(usd="0", basis=basis, table=table.digest)
    return total(price(table, one.model, one.usage, basis) for one in listed)


def at_least(table: PriceTable, used: Iterable[Exchange]) -> DecimalString:
    """A lower bound in US dollars: the tokens that were stated, at the lowest rate that they can have."""
    return add(_least(table, one) for one in used)


def _least(table: PriceTable, one: Exchange) -> DecimalString:
    found = table.find(one.model) if one.model else None
    if found is None:
        return "0"
    return add(
        times(count, rate)
        for bucket in Bucket
        if (count := one.usage.of(bucket)) and (rate := _rate(found.rates, bucket, one.usage))
    )


def _rate(rates: Rates, bucket: Bucket, usage: Usage) -> str | None:
    """The lowest rate of a bucket and of those inside it that were not set apart."""
    inside = [inner for inner, outer in CONTAINER.items() if outer is bucket and usage.of(inner) is None]
    known = [rate for one in (bucket, *inside) if (rate := rates.of(one)) is not None]
    return min(known, key=Decimal) if rates.of(bucket) is not None else None


def views(
    table: PriceTable | None, tries: Sequence[Sequence[Exchange] | None], billing: Billing, solved: int
) -> tuple[View, ...]:
    """The four views over all tries of a solver.

    Args:
        table: the prices; None for a dry run.
        tries: each try's exchanges; None where they are not known.
        billing: how the solver's model is paid for.
        solved: how many cells were solved.
    """
    return tuple(_view(table, tries, billing, basis, solved) for basis in Basis)


def _view(
    table: PriceTable | None, tries: Sequence[Sequence[Exchange] | None], billing: Billing, basis: Basis, solved: int
) -> View:
    if table is None or basis is not basis_of(billing):
        reason = DRY if table is None else _why_not(billing, basis)
        return View(basis=basis, usd=None, reason=reason, per_solved=missing(reason))
    unknown = Cost(usd=None, reason=NOT_METERED, basis=basis, table=table.digest)
    costs = [unknown if used is None else attempt_cost(table, used, basis) for used in tries]
    spent = total(costs)
    known = Cost(usd=add(at_least(table, used) for used in tries if used is not None), basis=basis)
    return View(
        basis=basis,
        usd=spent.usd,
        reason=spent.reason,
        at_least_usd=known.usd,
        priced=sum(one.usd is not None for one in costs),
        of=len(costs),
        per_solved=per_solved(spent, solved),
        at_least_per_solved=per_solved(known, solved) if spent.usd is None else None,
    )


def _why_not(billing: Billing, basis: Basis) -> str:
    match billing:
        case Billing.API:
            return "paid by the token: see api_estimate"
        case Billing.SUBSCRIPTION:
            return {
                Basis.API_ESTIMATE: "unpriced: paid by subscription",
                Basis.MARGINAL_CASH: "overage is on the provider's bill, not on the wire",
            }.get(basis, "which share of the fee this run is, is not known")
        case Billing.LOCAL:
            return {
                Basis.API_ESTIMATE: "unpriced: a local model",
                Basis.MARGINAL_CASH: "what the machine costs is not known; its energy is a figure of its own",
            }.get(basis, "a local model: no subscription")
        case _:
            assert_never(billing)

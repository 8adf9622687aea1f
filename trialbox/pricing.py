"""Which prices are taken, and what they make of an attempt and of a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.errors import UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.gateway.access import CostCap
from harness.gateway.records import Bucket
from harness.money import pusd
from harness.spend_book import Spent, exactly
from harness.state import State
from harness.store import Store
from harness.suites.parse import read_bytes
from harness.traffic import Exchange
from scoring.cost import attempt_cost
from scoring.evidence import used_by
from scoring.prices import Basis, PriceTable, Rates, read_table
from trialbox.places import data_folder
from trialbox.settings import price_table

_ONE = "this attempt"
_LONG = "no rates for long requests to"


def prices_of(state: State) -> PriceTable:
    """The prices that hold for a state folder.

    Raises:
        UserError: the user's own table can't be read or is none.
    """
    path = price_table(state, data_folder("prices"))
    return read_table(read_bytes(path), str(path))


def unpriced(prices: PriceTable, models: Iterable[str]) -> str:
    """Which of some models have no price, or a tier that nobody knows the rates of; empty if all have one."""
    found = {model: prices.find(model) for model in models}
    none = [model for model, price in found.items() if price is None]
    long = [model for model, price in found.items() if price and price.long_context and not price.long_context.rates]
    said = [f"{what} {', '.join(some)}" for what, some in (("no price for", none), (_LONG, long)) if some]
    return f"{' and '.join(said)} (prices of {prices.date})" if said else ""


def cost_cap(prices: PriceTable, models: Iterable[str], cap: int) -> CostCap:
    """A budget in picodollars, held by the highest rates of the models that may be asked.

    Raises:
        UserError: one has no price, or some rates that nobody knows.
    """
    asked = tuple(models)
    if problem := unpriced(prices, asked):
        raise UserError("--budget-usd", problem, "use --budget-tokens, or your own prices by [prices] in config.toml")
    return CostCap(cap_pusd=cap, rates_pusd=_highest(prices, asked))


def _highest(prices: PriceTable, models: Iterable[str]) -> dict[Bucket, int]:
    """The highest rates that are known of some models, in picodollars for a token."""
    highest: dict[Bucket, int] = {}
    for model in models:
        found = prices.find(model)
        tiers = [] if found is None else [found.rates, found.long_context.rates if found.long_context else None]
        for rates in filter(None, tiers):
            for bucket, rate in _rates(rates):
                highest[bucket] = max(rate, highest.get(bucket, 0))
    return highest


def _rates(rates: Rates) -> Iterable[tuple[Bucket, int]]:
    """Picodollars for a token, which dollars for a million are the same number of, a million times over."""
    return [(bucket, pusd(rate) // 10**6) for bucket in Bucket if (rate := rates.of(bucket)) is not None]


def meter(prices: PriceTable, store: Store) -> Callable[[AttemptRecord], Spent]:
    """What an attempt cost, by its own trace."""

    def cost(record: AttemptRecord) -> Spent:
        if record.traffic is None:
            # Without a run of the solver nothing was asked; without a trace of one nobody knows.
            return Spent(0, 0) if record.solve is None else Spent(None, 0)
        try:
            used = used_by({_ONE: record}, store).get(_ONE)
        except VerifyError:
            used = None
        if used is None:
            return Spent(None, 0)
        exact = attempt_cost(prices, used, Basis.API_ESTIMATE).usd
        return (
            Spent(None, _charge(prices, used, record.traffic.requested_models))
            if exact is None
            else exactly(pusd(exact))
        )

    return cost


def _charge(prices: PriceTable, used: Iterable[Exchange], requested: Iterable[str]) -> int:
    """What the daily cap counts where a cost is not known to the end: all that was stated, at the highest rates.

    A provider may serve a model under a name that no table has; what was asked for then stands for it.
    """
    asked = tuple(requested)
    charge = 0
    for one in used:
        rates = _highest(prices, (one.model,) if one.model and prices.find(one.model) else asked)
        charge += CostCap(cap_pusd=0, rates_pusd=rates).cost_pusd(one.usage) if rates else 0
    return charge

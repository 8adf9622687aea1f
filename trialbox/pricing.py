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
from scoring.cost import at_least, attempt_cost
from scoring.evidence import used_by
from scoring.prices import Basis, PriceTable, Rates, read_table
from trialbox.places import data_folder
from trialbox.settings import price_table

_ONE = "this attempt"


def prices_of(state: State) -> PriceTable:
    """The prices that hold for a state folder.

    Raises:
        UserError: the user's own table can't be read or is none.
    """
    path = price_table(state, data_folder("prices"))
    return read_table(read_bytes(path), str(path))


def cost_cap(prices: PriceTable, models: Iterable[str], cap: int) -> CostCap:
    """A budget in picodollars, held by the highest rates of the models that may be asked.

    Raises:
        UserError: one has no price, or some rates that nobody knows.
    """
    highest: dict[Bucket, int] = {}
    for model in models:
        found = prices.find(model)
        tiers = [] if found is None else [found.rates, *([found.long_context.rates] if found.long_context else [])]
        if not tiers or None in tiers:
            problem = f"no price for {model}" if found is None else f"no rates for long requests to {model}"
            remedy = "use --budget-tokens, or your own prices by [prices] in config.toml"
            raise UserError("--budget-usd", f"{problem} (prices of {prices.date})", remedy)
        for rates in filter(None, tiers):
            for bucket, rate in _rates(rates):
                highest[bucket] = max(rate, highest.get(bucket, 0))
    return CostCap(cap_pusd=cap, rates_pusd=highest)


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
        return Spent(None, pusd(at_least(prices, used))) if exact is None else exactly(pusd(exact))

    return cost

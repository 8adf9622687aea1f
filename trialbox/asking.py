"""How each solver of a run would reach its model: provider, key, models, budget. Nothing is asked of anybody here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from harness.counted import counted
from harness.errors import GateError, UserError
from harness.gateway.access import Access, Billing, Budget, Upstream
from harness.gateway.providers import SCRIPTED, Credential, credential
from harness.gateway.records import Api
from harness.money import pusd, usd
from harness.records import BudgetTerms
from harness.solvers.manifest import Solver
from harness.solvers.worker import APIS
from harness.spend import Worker
from scoring.prices import PriceTable
from trialbox.pricing import cost_cap, unpriced

FLEET = "fleet"
UNSET = "unknown"
NOBODY = "none"
"""The provider of a solver that has none."""


@dataclass(frozen=True)
class Terms:
    """What a user says of models for a whole run. ``provider`` is None where each solver's own is asked."""

    real: bool = False
    provider: str | None = None
    budget_requests: int | None = None
    budget_tokens: int | None = None
    budget_usd: str | None = None

    def check(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            UserError: a dry run with a real provider, a real one with the scripted, or a budget of nothing.
        """
        if self.real and self.provider == SCRIPTED:
            raise UserError("--provider", "the scripted provider answers dry runs alone", "leave out --real")
        if not self.real and self.provider not in {None, SCRIPTED}:
            problem = f"{self.provider} would be reached, and without --real no provider is"
            raise UserError("--provider", problem, "add --real, which shows what it would cost and stops")
        for name, value in (("--budget-requests", self.budget_requests), ("--budget-tokens", self.budget_tokens)):
            if value is not None and value < 1:
                raise UserError(name, f"{value} is too small", "give 1 or more, or leave it out")
        if self.budget_usd is not None:
            _dollars(self.budget_usd)

    def of_plan(self, prices: PriceTable) -> BudgetTerms | None:
        """The budget as a plan has it; None if there is none."""
        terms = (self.budget_requests, self.budget_tokens, self.budget_usd)
        if terms == (None, None, None):
            return None
        return BudgetTerms(
            requests=self.budget_requests,
            tokens=self.budget_tokens,
            usd=None if self.budget_usd is None else usd(_dollars(self.budget_usd)),
            prices=None if self.budget_usd is None else prices.digest,
        )


@dataclass(frozen=True)
class Asking:
    """How one solver reaches its model.

    ``upstream`` is None in a dry run, where the provider is not there yet, and where the solver is ``unavailable``
    since it has none.
    """

    solver: Solver
    upstream: Upstream | None
    key: Credential
    api: Api
    budget: Budget
    unavailable: str = ""
    unpriced: str = ""
    """Which of its models have no price; empty if none."""

    @property
    def provider(self) -> str:
        """The provider's name, as the plan has it."""
        return self.upstream.name if self.upstream else NOBODY if self.unavailable else SCRIPTED

    @property
    def billing(self) -> Billing:
        """How it is paid for."""
        return self.upstream.billing if self.upstream else Billing.LOCAL

    @property
    def worker(self) -> str:
        """What its costs are remembered by: everything that may change them."""
        one = self.solver.manifest
        harness = one.harness if one.harness != UNSET else one.driver.value
        return f"{harness} {one.harness_version} {one.model} {one.effort} {self.provider}"

    def dispatches(self, number: int) -> Worker:
        """The solver as one who would be dispatched so many times."""
        cap = self.budget.cost.cap_pusd if self.budget.cost else None
        bounds = ((self.budget.tokens, "token"), (self.budget.requests, "request"))
        bound = " and ".join(counted(most, noun) for most, noun in bounds if most is not None)
        return Worker(self.solver.name, self.worker, self.billing, number, cap, self.unpriced, bound)

    def access(self, upstream: Upstream) -> Access:
        """What each attempt of its may do."""
        manifest = self.solver.manifest
        return Access(
            upstream=upstream, apis=(self.api,), models=(manifest.model, *manifest.side_models), budget=self.budget
        )


def askings(
    solvers: Collection[Solver],
    terms: Terms,
    known: Mapping[str, Upstream],
    environ: Mapping[str, str],
    prices: PriceTable,
    fleet: Collection[str] = (),
) -> dict[str, Asking]:
    """How each solver that needs a model reaches it, by the solver's name.

    Args:
        solvers: as they were chosen.
        terms: what the user says of models.
        known: the providers.
        environ: where their keys are.
        prices: what a budget in dollars is held by.
        fleet: solvers that nobody named: what one of them lacks makes it unavailable, and no mistake of the user's.

    Raises:
        UserError: an unknown provider, one that does not speak the solver's format, or a missing key.
        GateError: none of them can be reached.
    """
    terms.check()
    found = {}
    for solver in solvers:
        if solver.manifest.driver.asks_model:
            try:
                found[solver.name] = _asking(solver, terms, known, environ, prices)
            except _Lacking as lacking:
                if solver.name not in fleet:
                    raise UserError(lacking.where, lacking.problem, lacking.remedy) from lacking
                found[solver.name] = replace(lacking.asking, unavailable=lacking.told)
    if found and all(one.unavailable for one in found.values()):
        keys = sorted({name for one in found.values() if one.upstream and (name := one.upstream.credential)})
        remedy = f"set one of {', '.join(keys)}" if keys else "see docs/spending.md"
        raise GateError("--real", "no solver of this run can reach its model, and nothing was spent", remedy)
    if terms.real and not found:
        raise UserError("--real", "no solver of this run asks a model", "run without --real")
    if terms.provider is not None and not found:
        raise UserError("--provider", "no solver of this run asks a model", "leave it out")
    return found


class _Lacking(UserError):
    """What one solver lacks, and how far it was understood."""

    def __init__(self, where: str, problem: str, remedy: str, asking: Asking, short: str = "") -> None:
        super().__init__(where, problem, remedy)
        self.asking = asking
        self.told = f"{problem}: {short}" if short else problem
        """Why it is unavailable, in few words."""


def _asking(
    solver: Solver, terms: Terms, known: Mapping[str, Upstream], environ: Mapping[str, str], prices: PriceTable
) -> Asking:
    manifest = solver.manifest
    models = (manifest.model, *manifest.side_models)
    cost = None if terms.budget_usd is None else cost_cap(prices, models, _dollars(terms.budget_usd))
    budget = Budget(requests=terms.budget_requests, tokens=terms.budget_tokens, cost=cost)
    api = manifest.api or APIS.get(manifest.provider or "", Api.CHAT)  # as the drivers do
    asking = Asking(solver, None, Credential(SCRIPTED, ""), api, budget, unpriced=unpriced(prices, models))
    if not terms.real:
        return asking
    where = f"--solver {solver.name}"
    name = terms.provider or manifest.provider
    if name is None:
        remedy = f"name it: {manifest.name}:model={manifest.model},provider=NAME, or --provider NAME"
        raise _Lacking(
            where, "names no provider", remedy, asking, f"say {manifest.name}:provider=NAME, or --provider NAME"
        )
    if name not in known:
        place = "--provider" if terms.provider else where
        raise UserError(place, f"there is no provider {name!r}", f"known: {', '.join(sorted(known))}; docs/spending.md")
    upstream = known[name]
    asking = replace(asking, upstream=upstream)
    if api not in upstream.auth:
        speaks = ", ".join(one.value for one in upstream.auth)
        problem = f"speaks {api.value}, and provider {upstream.name} speaks {speaks}"
        raise _Lacking(where, problem, "name another provider, or say in config.toml that it speaks it", asking)
    key = credential(upstream, environ)
    if key.key is None:
        raise _Lacking(where, key.reason, f"set {upstream.credential}, or leave the solver out", asking)
    return replace(asking, key=key)


def _dollars(text: str) -> int:
    try:
        value = pusd(text) if text[:1] in "0123456789." else 0  # NaN is a decimal too
    except ArithmeticError:
        value = 0
    if not 0 < value <= MOST:
        raise UserError("--budget-usd", f"{text!r} is no amount", 'give dollars, such as "0.50"')
    return value


MOST = pusd("9000")
"""A budget is counted in picodollars, and JSON's integers are exact up to 2^53."""

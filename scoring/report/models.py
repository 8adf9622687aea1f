"""What a card says of models: where they are, what was asked of them, in tokens and in money."""

from __future__ import annotations

from collections.abc import Sequence

from harness.gateway.access import Billing
from harness.gateway.records import Bucket, Completeness, Usage
from harness.money import shown
from harness.records import RunMode, SolverRef
from harness.untrusted import clean_text
from scoring.card import Card
from scoring.cost import View, basis_of
from scoring.figures import Figure
from scoring.model_use import Effort, ModelUse
from scoring.report.table import NONE, Table, places, seconds

_COLUMNS = ("solver", "harness", "provider", "model", "effort", "requests", "input", "cached", "written", "output")
_MONEY = ("solver", "view", "$/solved", "$ total", "tries priced", "s of solvers", "s elapsed")


def tables(card: Card) -> tuple[Table, ...]:
    """The tables on models; none where no solver needs one. Those paid by subscription stand apart from the others."""
    rows = _rows(card)
    if not rows:
        return ()
    found = [Table("models, over all tries", _COLUMNS, tuple(_tokens(ref, use) for ref, use in rows))]
    if card.core.plan.mode is RunMode.REAL:
        for title, apart in (("money", False), ("money, by subscription", True)):
            listed = [row for row in rows if (row[1].billing is Billing.SUBSCRIPTION) is apart]
            if listed:
                found.append(Table(title, _MONEY, tuple(_money(ref, use) for ref, use in listed)))
    return tuple(found)


def notes(card: Card) -> list[str]:
    """What a reader must know of those figures."""
    said: list[str] = []
    for ref, use in _rows(card):
        name = clean_text(ref.name)
        if use.usage.completeness is not Completeness.COMPLETE:
            said.append(f"{name}: tokens are a lower bound ({clean_text(use.usage.reason)})")
        if use.effort is Effort.UNCONFIRMED:
            wire = ", ".join(use.efforts_reported) or "none"
            said.append(
                f"{name}: effort {use.effort_requested} was asked for and is unconfirmed (the wire says {wire})"
            )
        if use.stripped:
            kinds = ", ".join(f"{kind.value} {number}" for kind, number in use.stripped.items())
            said.append(f"{name}: taken out of requests: {kinds}")
        if use.faults:
            kinds = ", ".join(f"{fault.value} {number}" for fault, number in use.faults.items())
            said.append(f"{name}: provider faults: {kinds}; requests repeated: {use.retries}")
        said += [
            f"{name}: {one.basis.value} unavailable ({clean_text(one.reason)})"
            for one in use.costs
            if one.usd is None and one.of
        ]
        if use.quota:
            said.append(f"{name}: quota: " + ", ".join(f"{key} {text}" for key, text in use.quota.items()))
    said += _own_words(card)
    if any(use.effort is not Effort.NOT_ASKED for _, use in _rows(card)):
        said.append("effort labels of different vendors are not comparable")
    return said + _terms(card)


def _own_words(card: Card) -> list[str]:
    """How agents' own accounts compare with the gateway's figures, attempt by attempt; they are in no other figure."""
    said = []
    plan, seen = card.core.plan, len(card.measured.cells)
    part = f" (the first {seen} attempts)" if seen < len(plan.solvers) * len(plan.tasks) * plan.attempts else ""
    for ref, _ in _rows(card):
        own = [one.self_reported for one in card.measured.cells if one.cell.solver == ref.name and one.self_reported]
        if not own:
            continue
        ratios = {"tokens": [one.tokens_ratio for one in own], "dollars": [one.usd_ratio for one in own]}
        parts = [f"{what} {_range(listed)}" for what, listed in ratios.items()]
        pieces = (piece for one in own for piece in clean_text(one.agent.reason).split("; "))
        remarks = ", ".join(dict.fromkeys(piece for piece in pieces if piece and not piece.startswith("it states no")))
        of = f"{clean_text(ref.name)}: by its own account, over the gateway's: {', '.join(parts)}{part}"
        said.append(f"{of} ({remarks})" if remarks else of)
    return said


def _range(listed: Sequence[Figure]) -> str:
    """The least and the most of some ratios; why there is none."""
    known = sorted(value for one in listed if (value := one.fraction) is not None)
    if not known:
        return f"unavailable ({listed[0].reason})"
    least, most = places(known[0]), places(known[-1])
    return least if least == most else f"{least} to {most}"


def _terms(card: Card) -> list[str]:
    said: list[str] = []
    if card.stamp.prices is not None:
        table = card.stamp.prices
        of = f"list prices of {table.date} ({table.table.digest})"
        said.append(f"money: {of}; estimates and no receipts, and views of one usage that are never added")
    budget = card.core.plan.budget
    if budget is not None:
        limits = {"requests": budget.requests, "tokens": budget.tokens, "US dollars": budget.usd}
        stated = ", ".join(f"{number} {what}" for what, number in limits.items() if number is not None)
        said.append(f"budget of each attempt: {stated}")
    return said


def _rows(card: Card) -> list[tuple[SolverRef, ModelUse]]:
    return [(ref, use) for ref in card.core.plan.solvers if (use := card.measured.solvers[ref.name].model) is not None]


def _tokens(ref: SolverRef, use: ModelUse) -> tuple[str, ...]:
    version = "" if ref.harness_version == "unknown" else f" {clean_text(ref.harness_version)}"
    denied = f" ({use.denied} denied)" if use.denied else ""
    return (
        clean_text(ref.name),
        clean_text(ref.harness) + version,
        f"{use.provider} ({use.billing.value})",
        _models(use.requested_models or (ref.model,), use.served_models),
        _effort(use),
        f"{use.requests}{denied}",
        tokens(use.usage, Bucket.INPUT),
        tokens(use.usage, Bucket.CACHE_READ),
        tokens(use.usage, Bucket.CACHE_WRITE_5M, Bucket.CACHE_WRITE_1H),
        tokens(use.usage, Bucket.OUTPUT, Bucket.REASONING),
    )


def _effort(use: ModelUse) -> str:
    """What was asked for, and how far the wire bears it out; unasked, what the agent asks for by itself."""
    if use.effort is not Effort.NOT_ASKED:
        return f"{use.effort_requested} ({use.effort.value})"
    return f"{NONE} (wire: {', '.join(use.efforts_reported)})" if use.efforts_reported else NONE


def _models(requested: Sequence[str], served: Sequence[str]) -> str:
    asked, got = ", ".join(map(clean_text, requested)), ", ".join(map(clean_text, served))
    return asked if asked == got else f"{asked} -> {got or NONE}"


def tokens(usage: Usage, *buckets: Bucket) -> str:
    """The tokens of some buckets, with a bound's sign where not all is known; a dash where nothing is."""
    known = [count for bucket in buckets if (count := usage.of(bucket)) is not None]
    if not known:
        return NONE
    return f"{'' if usage.completeness is Completeness.COMPLETE else '≥'}{sum(known)}"


def _money(ref: SolverRef, use: ModelUse) -> tuple[str, ...]:
    view = next(one for one in use.costs if one.basis is basis_of(use.billing))
    return (
        clean_text(ref.name),
        view.basis.value,
        _per_solved(view),
        dollars(view),
        f"{view.priced}/{view.of}",
        seconds(use.solve_us),
        seconds(use.elapsed_us),
    )


def dollars(view: View) -> str:
    """A view's sum; where a part is missing, what it is at least."""
    if view.usd is not None:
        return shown(view.usd)
    return NONE if view.at_least_usd is None else f"≥{shown(view.at_least_usd)}"


def _per_solved(view: View) -> str:
    if view.per_solved.value is not None:
        return shown(view.per_solved.value)
    bound = view.at_least_per_solved
    return NONE if bound is None or bound.value is None else f"≥{shown(bound.value)}"

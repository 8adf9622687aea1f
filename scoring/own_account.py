"""An agent's own word on its use, beside the gateway's figures for the same attempt: shown, and in no total.

The ratio is the agent's over the gateway's: 1 where they agree, above it where the agent says more. It is of all tokens
together, since agents set different ones apart, and of the money that the published prices give.
"""

from __future__ import annotations

from fractions import Fraction

from harness.evidence import AttemptRecord, SelfReported
from harness.gateway.records import Completeness
from harness.records import Record
from scoring.figures import Figure, known, missing
from scoring.prices import Cost


class OwnAccount(Record):
    """What the agent says, and how that compares."""

    agent: SelfReported
    tokens_ratio: Figure
    usd_ratio: Figure


def own_account(record: AttemptRecord, cost: Cost | None) -> OwnAccount | None:
    """The account of an attempt's agent; None where none is read. *cost* is what the gateway's usage costs."""
    solve = record.solve
    if solve is None or solve.self_reported is None:
        return None
    agent = solve.self_reported
    return OwnAccount(agent=agent, tokens_ratio=_tokens(agent, record), usd_ratio=_dollars(agent, cost))


def _tokens(agent: SelfReported, record: AttemptRecord) -> Figure:
    if not agent.tokens:
        return missing("the agent states no tokens")
    if record.traffic is None or record.traffic.usage.completeness is not Completeness.COMPLETE:
        return missing("the gateway's tokens are not complete")
    return _ratio(Fraction(sum(agent.tokens.values())), Fraction(record.traffic.usage.stated))


def _dollars(agent: SelfReported, cost: Cost | None) -> Figure:
    if agent.usd is None:
        return missing("the agent states no cost")
    if cost is None:
        return missing("nothing is priced here")
    if cost.usd is None:
        return missing(f"the gateway's cost is unknown: {cost.reason}")
    return _ratio(Fraction(agent.usd), Fraction(cost.usd))


def _ratio(theirs: Fraction, ours: Fraction) -> Figure:
    if not ours:
        return missing("the gateway saw none")
    return known(theirs / ours)

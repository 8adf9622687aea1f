"""What the gateway saw and how the solver ended, to how the attempt ended: one table (docs/outcomes.md).

An attempt is ``errored`` only by a fault of the provider's that nothing followed. What a solver brings about without
the provider (a denied request, a spent budget, running for ever), or by a request that is refused as such (400, 403,
413), never takes its cell out of the denominator. Who provoked a 429, a 5xx or a lost connection is not told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from harness.gateway.records import Fault
from harness.outcomes import Ending
from harness.traffic import Traffic

KEY, MODEL = "key", "model"
"""The kinds of ``unavailable``: the provider refuses the key, or knows no such model."""


@dataclass(frozen=True)
class End:
    """How an attempt ended, the kind where it is not the ending's own, and a reason for a reader."""

    ending: Ending
    kind: str = ""
    reason: str = ""


def excuses(fault: Fault) -> bool:
    """Whether a fault that was the end of it takes the cell out of the denominator.

    A cut, silent or malformed answer does not: what a request asks for can bring it about.
    """
    match fault:
        case (
            Fault.STATUS_402 | Fault.RATE_LIMITED | Fault.SERVER_ERROR | Fault.CONNECTION | Fault.CIRCUIT_OPEN
        ):  # the provider's, whoever provoked it
            return True
        case Fault.CUT_STREAM | Fault.MALFORMED | Fault.TIMEOUT:
            return False
        case _:
            assert_never(fault)


def ending_of(solver: Ending, traffic: Traffic | None, *, reached_before: bool = False) -> End:
    """How an attempt ended.

    Args:
        solver: how its solver's run did.
        traffic: what the gateway saw; None for a solver that needs no model.
        reached_before: this solver was answered in an earlier attempt, so its model is there.
    """
    if traffic is None or solver not in {Ending.COMPLETED, Ending.WALL_LIMIT, Ending.OUT_OF_MEMORY}:
        return End(solver)
    if traffic.short.budget_refused:
        return End(Ending.BUDGET_LIMIT, reason="a request was refused since the attempt's budget was spent")
    if solver is Ending.OUT_OF_MEMORY:
        return End(solver)
    good = traffic.reached or reached_before
    if traffic.last_status == 401:
        # The key is the gateway's, and nothing that a solver sends takes part in proving who asks.
        return End(Ending.NOT_AVAILABLE, KEY, f"the provider refuses the key (401){', which it took before' * good}")
    if traffic.last_status == 404 and not good:
        models = ", ".join(traffic.short.requested_models) or "the model"
        return End(Ending.NOT_AVAILABLE, MODEL, f"the provider knows no {models}, or not its endpoint (404)")
    fault = traffic.short.outlasting
    if fault is not None and excuses(fault):
        return End(Ending.PROVIDER_FAULT, fault.value, f"the provider failed ({fault.value}) and nothing followed")
    return End(solver)


def remarks(solver: Ending, exit_status: int | None, left_running: int | None, traffic: Traffic | None) -> str:
    """What a reader should know of a run whose grade decides: one line, empty where all was as it should be."""
    said: list[str] = []
    if solver is Ending.COMPLETED and exit_status not in {0, None}:
        said.append(f"the solver ended with status {exit_status}")
    if solver is Ending.COMPLETED and left_running:
        said.append(f"{left_running} of its processes still ran and were killed")
    if traffic is not None:
        if not traffic.short.requests:
            denied = f"each of its {traffic.short.denied} requests was denied"
            said.append(denied if traffic.short.denied else "it asked no model anything")
        elif not traffic.reached:
            said.append(f"no model answered it (last status {traffic.last_status})")
        if traffic.short.faults and traffic.short.outlasting is not None:
            said.append(f"its last exchange ended in {traffic.short.outlasting.value}")
    return "; ".join(said)

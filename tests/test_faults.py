"""Every fault has one outcome: the provider's excuse a cell, whoever provoked them; a solver's own deeds do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import VerifyError
from harness.faults import End, ending_of, excuses, remarks
from harness.gateway.records import Bucket, Completeness, Fault
from harness.gateway.usage import cut
from harness.outcomes import Ending, Outcome, in_denominator, rule
from harness.store import LocalStore
from harness.traffic import Traffic, exchanges, read_trace
from tests.gateway_lines import kept, line, tokens, traffic

STATUS = {Fault.STATUS_402: 402, Fault.RATE_LIMITED: 429, Fault.SERVER_ERROR: 529}
PROVIDERS_OWN = {Fault.STATUS_402, Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.CONNECTION, Fault.CIRCUIT_OPEN}


def failed(fault: Fault) -> dict[str, object]:
    return line(STATUS.get(fault, 502), fault=fault)


def outcome_of(end: End) -> Outcome | None:
    return rule(end.ending).outcome


def test_a_solver_without_a_model_ends_as_it_did() -> None:
    for ending in Ending:
        assert ending_of(ending, None) == End(ending)


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("solver", [Ending.COMPLETED, Ending.WALL_LIMIT])
def test_a_fault_that_nothing_followed(fault: Fault, solver: Ending) -> None:
    end = ending_of(solver, traffic(line(), failed(fault)))
    if fault in PROVIDERS_OWN:
        assert (end.ending, end.kind) == (Ending.PROVIDER_FAULT, fault.value)
        assert outcome_of(end) is Outcome.ERRORED and rule(end.ending).retry and not rule(end.ending).counts
    else:
        assert end == End(solver), "what a request can bring about by itself excuses nothing"
    assert excuses(fault) is (fault in PROVIDERS_OWN)


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_that_was_recovered_from_excludes_nothing(fault: Fault) -> None:
    seen = traffic(failed(fault), failed(fault), line())
    assert seen.short.faults == (fault, fault)
    for solver in (Ending.COMPLETED, Ending.WALL_LIMIT, Ending.OUT_OF_MEMORY):
        assert ending_of(solver, seen) == End(solver)


def test_a_wrong_key_is_the_operators_and_nobodys_failure() -> None:
    end = ending_of(Ending.COMPLETED, traffic(line(401), line(401)))
    assert (end.ending, end.kind, outcome_of(end)) == (Ending.NOT_AVAILABLE, "key", Outcome.UNAVAILABLE)
    assert not rule(end.ending).retry


def test_an_unknown_model_is_the_operators_too() -> None:
    end = ending_of(Ending.WALL_LIMIT, traffic(line(404, model="claude-9")))
    assert (end.ending, end.kind) == (Ending.NOT_AVAILABLE, "model")
    assert "claude-9" in end.reason


def test_a_solver_cant_make_itself_unavailable() -> None:
    """Once its model has answered, in this attempt or an earlier one, the model is there."""
    assert ending_of(Ending.COMPLETED, traffic(line(), line(404))) == End(Ending.COMPLETED)
    assert ending_of(Ending.COMPLETED, traffic(line(404)), reached_before=True) == End(Ending.COMPLETED)


def test_a_key_that_is_revoked_meanwhile_is_the_operators() -> None:
    """It is the gateway's key, and no solver can have it refused."""
    for seen, before in ((traffic(line(), line(401)), False), (traffic(line(401)), True)):
        end = ending_of(Ending.WALL_LIMIT, seen, reached_before=before)
        assert (end.ending, end.kind) == (Ending.NOT_AVAILABLE, "key") and "which it took before" in end.reason
    assert ending_of(Ending.COMPLETED, traffic(line(401), line())) == End(Ending.COMPLETED)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(traffic(line(400)), id="its own bad request"),
        pytest.param(traffic(line(403)), id="what it asked for is forbidden"),
        pytest.param(traffic(line(413)), id="too large"),
        pytest.param(traffic(line(403, denial="model")), id="a denial of the gateway's"),
        pytest.param(traffic(line(401, denial="bad_token")), id="no token of its own"),
        pytest.param(traffic(line(), line(404, denial="endpoint")), id="a file endpoint"),
        pytest.param(traffic(), id="it asked nothing"),
        pytest.param(traffic(line(404, path="/v1/messages/count_tokens")), id="counting tokens is not asking a model"),
    ],
)
def test_what_a_solver_asks_for_is_its_own(seen: Traffic) -> None:
    for solver in (Ending.COMPLETED, Ending.WALL_LIMIT):
        end = ending_of(solver, seen)
        assert end == End(solver)
        assert rule(end.ending).counts and rule(end.ending).graded


@pytest.mark.parametrize("solver", [Ending.COMPLETED, Ending.WALL_LIMIT, Ending.OUT_OF_MEMORY])
def test_a_spent_budget_is_a_timeout_whatever_came_after(solver: Ending) -> None:
    end = ending_of(solver, traffic(line(), failed(Fault.RATE_LIMITED), budget_refused=True))
    row = rule(end.ending)
    assert (row.outcome, row.kind, row.graded, row.counts) == (Outcome.TIMEOUT, "budget", True, True)


def test_out_of_memory_is_no_providers_fault() -> None:
    assert ending_of(Ending.OUT_OF_MEMORY, traffic(failed(Fault.SERVER_ERROR))) == End(Ending.OUT_OF_MEMORY)


@settings(deadline=None)
@given(
    statuses=st.lists(st.sampled_from([None, 200, 400, 401, 402, 403, 404, 429, 500, 529]), max_size=6),
    faults=st.lists(st.sampled_from([None, *Fault]), min_size=6, max_size=6),
    solver=st.sampled_from([Ending.COMPLETED, Ending.WALL_LIMIT, Ending.OUT_OF_MEMORY]),
    budget=st.booleans(),
)
def test_a_cell_leaves_the_denominator_only_for_what_a_provider_did_last(
    statuses: list[int | None], faults: list[Fault | None], solver: Ending, budget: bool
) -> None:
    seen = traffic(
        *(line(status, fault=fault) for status, fault in zip(statuses, faults, strict=False)), budget_refused=budget
    )
    end = ending_of(solver, seen)
    outcome = outcome_of(end)
    if outcome is not None and not in_denominator(outcome):
        assert not budget and solver is not Ending.OUT_OF_MEMORY
        refused = seen.last_status == 401 or (not seen.reached and seen.last_status == 404)
        assert seen.short.outlasting in PROVIDERS_OWN or refused
        assert end.reason
    assert ending_of(solver, seen, reached_before=True).kind != "model"


# ---------------------------------------------------------------------------------------------- what a reader is told


@pytest.mark.parametrize(
    ("solver", "status", "left", "seen", "said"),
    [
        (Ending.COMPLETED, 0, 0, None, ""),
        (Ending.COMPLETED, 0, 0, traffic(line()), ""),
        (Ending.COMPLETED, 3, 0, None, "the solver ended with status 3"),
        (Ending.COMPLETED, 0, 2, None, "2 of its processes still ran and were killed"),
        (Ending.COMPLETED, 0, 0, traffic(), "it asked no model anything"),
        (Ending.COMPLETED, 0, 0, traffic(line(403, denial="model")), "each of its 1 requests was denied"),
        (Ending.COMPLETED, 1, None, traffic(line(400)), "ended with status 1; no model answered it (last status 400)"),
        (Ending.COMPLETED, 0, 0, traffic(line(), line(fault=Fault.CUT_STREAM)), "last exchange ended in cut_stream"),
        (Ending.WALL_LIMIT, None, 1, traffic(line()), ""),
    ],
)
def test_a_run_that_is_graded_says_what_was_odd(
    solver: Ending, status: int | None, left: int | None, seen: Traffic | None, said: str
) -> None:
    assert remarks(solver, status, left, seen).endswith(said)
    assert bool(remarks(solver, status, left, seen)) is bool(said)


def test_the_last_word_decides_whether_a_model_declined() -> None:
    assert traffic(line(), line(refused=True)).declined
    assert not traffic(line(refused=True), line()).declined
    assert traffic(line(refused=True), line(500, fault=Fault.SERVER_ERROR)).declined
    assert not traffic().declined


# ------------------------------------------------------------------------------------------------------ the trace


def test_of_two_answers_with_one_id_to_one_request_the_later_is_paid_for() -> None:
    seen = traffic(
        line(used=tokens(output=9), request_id="r1", sent=b"hello"),
        line(used=tokens(output=159), request_id="r1", sent=b"hello"),
        line(used=tokens(output=1)),
        line(used=tokens(output=1)),
        line(429, fault=Fault.RATE_LIMITED),
        line(denial="model"),
        line(used=tokens(input=7), path="/v1/messages/count_tokens"),
    )
    assert [one.usage.of(Bucket.OUTPUT) for one in exchanges(seen.lines)] == [159, 1, 1]
    assert seen.short.usage.of(Bucket.OUTPUT) == 161


def test_an_id_that_a_server_gives_twice_hides_no_answer() -> None:
    """Ollama draws them from 999 numbers: the same id for another request is another exchange."""
    seen = traffic(
        line(used=tokens(output=9), request_id="r1", sent=b"hello"),
        line(used=tokens(output=159), request_id="r1", sent=b"goodbye"),
        line(used=tokens(output=1), request_id="r1"),
    )
    assert [one.usage.of(Bucket.OUTPUT) for one in exchanges(seen.lines)] == [9, 159, 1]
    assert seen.short.usage.of(Bucket.OUTPUT) == 169


@pytest.mark.parametrize("fault", Fault)
def test_an_answer_that_was_lost_may_have_been_paid_for(fault: Fault) -> None:
    """What the gateway says in its place has a status of its own, and no tokens: that is not zero tokens."""
    seen = traffic({**line(502, fault=fault), "answer": None}, line())
    used = seen.short.usage
    assert used.of(Bucket.OUTPUT) == 5
    lost = not excuses(fault)
    assert (used.completeness is Completeness.USAGE_INCOMPLETE) is lost
    assert (f"the answer was lost ({fault.value})" in used.reason) is lost


def test_a_trace_is_read_back_and_any_break_of_its_chain_is_noticed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    seen = traffic(line(), line(used=cut("the client left")), line(500, fault=Fault.SERVER_ERROR))
    assert read_trace(store, kept(store, seen)) == seen.lines
    for wrong in (seen.lines[1:], seen.lines[:1] + seen.lines[2:], (*seen.lines[:2], seen.lines[0])):
        with pytest.raises(VerifyError):
            read_trace(store, kept(store, Traffic(seen.short, wrong)))


# ------------------------------------------------------------------------------------------------------- the page


def test_the_page_has_every_outcome_and_every_fault() -> None:
    page = (Path(__file__).parent.parent / "docs" / "outcomes.md").read_text()
    for outcome in Outcome:
        assert f"`{outcome.value}`" in page.partition("## Faults")[0]
    rows = [row for row in page.splitlines() if row.startswith("|")]
    for fault in Fault:
        assert excuses(fault) is any(f"`errored` (`{fault.value}`)" in row and row.endswith("| no |") for row in rows)
    for outcome in Outcome:
        row = next(row for row in rows if f"`{outcome.value}`" in row.split("|")[1])
        assert row.split("|")[2].strip() == ("yes" if in_denominator(outcome) else "no")

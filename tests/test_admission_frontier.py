"""Whose recorded attempts say whether a task is hard: those of real runs, by what the gateway saw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.ledger import Ledger
from harness.outcomes import Outcome
from harness.records import Coverage, Plan, RunMode, SolverRef, to_json
from harness.store import LocalStore
from harness.suites.admission.frontier import DEFAULTS, Frontier, Role, Status, frontier, references_of
from tests.card_rig import Attempt, make_record
from tests.gateway_lines import kept, line, traffic
from tests.plans import ZERO, plan
from trialbox.checking import recorded_attempts

CODEX = SolverRef(
    name="a",
    kind="cli",
    model="gpt-5.6-sol",
    harness="codex",
    harness_version="0.171.0",
    manifest=ZERO,
    provider="openai",
    billing="api",
)
CLAUDE = CODEX.model_copy(
    update={"name": "b", "model": "claude-opus-5", "harness": "claude-code", "provider": "anthropic"}
)
SIDE = line(model="claude-haiku-4-5-20251001")
FAILED = Attempt(Outcome.FAILED, (False, False))


def asked(wanted: str, served: str | None) -> dict[str, Any]:
    """One exchange that asks for a model and is served by one."""
    made = line(model=wanted)
    return made | {"answer": made["answer"].model_copy(update={"model": served})}


class Rig:
    """A ledger and a store with runs in them."""

    def __init__(self, folder: Path) -> None:
        self.ledger, self.store = Ledger(folder / "ledger.db"), LocalStore(folder / "blobs")

    def run(
        self,
        solver: SolverRef,
        *lines: dict[str, Any],
        mode: RunMode = RunMode.REAL,
        attempts: int = 3,
        attempt: Attempt = FAILED,
        coverage: Coverage = Coverage.FULL,
    ) -> None:
        """A run whose attempts all went alike, with these exchanges."""
        of: Plan = plan(1, 1, attempts).model_copy(update={"solvers": (solver,), "mode": mode, "provider": "openai"})
        run_id = self.ledger.create_run(of, {})
        for cell in of.cells():
            number = self.ledger.start_try(run_id, cell)
            record = make_record(self.store, of, cell, number, attempt)
            if lines:
                seen = traffic(*lines)
                web = record.traces[0].model_copy(
                    update={"coverage": coverage, "reason": "", "lines": kept(self.store, seen)}
                )
                record = record.model_copy(update={"traffic": seen.short, "traces": (web,)})
            blob = self.store.put(to_json(record), "application/vnd.trialbox.attempt+json")
            self.ledger.finish(run_id, cell, number, record.outcome, blob, terminal=True)

    def frontier(self, a: str | None = None, b: str | None = None) -> Frontier:
        who = references_of(a, b)
        return frontier(recorded_attempts(self.ledger, self.store, who).get(ZERO, ()), who)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_six_real_attempts_by_wire_ids_measure_a_task(rig: Rig) -> None:
    rig.run(CODEX, asked("gpt-5.6-sol", "gpt-5.6-sol"))
    rig.run(CLAUDE, SIDE, asked("claude-opus-5", "claude-opus-5"), attempt=Attempt(seconds=601))
    found = rig.frontier()
    assert (found.status, found.frontier, found.reason) == (Status.MEASURED, True, "")
    assert (found.solved_by_a, found.failed_by_b, found.median_of_b_us) == (0, 0, 601_000_000)
    assert {(one.role, one.model, one.harness, one.provider) for one in found.attempts} == {
        (Role.A, "gpt-5.6-sol", "codex 0.171.0", "openai"),
        (Role.B, "claude-opus-5", "claude-code 0.171.0", "anthropic"),
    }


def test_a_name_with_a_provider_or_a_date_is_the_same_model(rig: Rig) -> None:
    name = "OpenAI/GPT-5.6-Sol-2026-07-09"
    rig.run(CODEX.model_copy(update={"model": name}), asked(name, "gpt-5.6-sol-2026-07-09"))
    (one, *_) = rig.frontier().attempts
    assert one.model == "gpt-5.6-sol-2026-07-09"


GOOD = asked("gpt-5.6-sol", "gpt-5.6-sol")


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda rig: rig.run(CODEX, GOOD, mode=RunMode.DRY), id="a script played it"),
        pytest.param(lambda rig: rig.run(CODEX.model_copy(update={"kind": "command"}), GOOD), id="asks no model"),
        pytest.param(
            lambda rig: rig.run(CODEX.model_copy(update={"kind": "command", "model": "GPT 5.6 Sol"})),
            id="a name in a manifest",
        ),
        pytest.param(
            lambda rig: rig.run(CODEX, GOOD, attempt=Attempt(Outcome.ERRORED, None, kind="rate_limited")),
            id="does not count",
        ),
        pytest.param(
            lambda rig: rig.run(CODEX.model_copy(update={"harness": "opencode"}), GOOD), id="another's harness"
        ),
        pytest.param(
            lambda rig: rig.run(CODEX.model_copy(update={"kind": "worker", "harness": "unknown"}), GOOD),
            id="no harness at all",
        ),
        pytest.param(lambda rig: rig.run(CODEX), id="nothing was asked"),
        pytest.param(lambda rig: rig.run(CODEX, asked("gpt-5.6-sol", "gpt-5.6-mini")), id="another was served"),
        pytest.param(lambda rig: rig.run(CODEX, GOOD, asked("gpt-5.6-sol", "gpt-5.6-mini")), id="another at times"),
        pytest.param(lambda rig: rig.run(CODEX, asked("gpt-5.6-sol", None)), id="the provider does not say"),
        pytest.param(lambda rig: rig.run(CODEX, GOOD, coverage=Coverage.PARTIAL), id="not all of it was seen"),
        pytest.param(
            lambda rig: rig.run(CODEX.model_copy(update={"model": "gpt-5.6-sol-fast"}), GOOD), id="another was planned"
        ),
        pytest.param(lambda rig: rig.run(CODEX, line(429, model="gpt-5.6-sol")), id="no answer"),
    ],
)
def test_what_is_no_reference_solvers_attempt(rig: Rig, made: Callable[[Rig], None]) -> None:
    made(rig)
    found = rig.frontier()
    assert (found.status, found.attempts) == (Status.NOT_MEASURED, ())
    who = "GPT 5.6 Sol: gpt-5.6-sol under codex"
    assert found.reason == f"0 of 3 attempts of reference solver a ({who}) are recorded"


def test_both_roles_can_be_played_by_others(rig: Rig) -> None:
    rig.run(CODEX, GOOD)
    rig.run(
        CODEX.model_copy(update={"name": "c", "harness": "opencode", "model": "local/Qwen-9"}),
        asked("local/Qwen-9", "qwen-9"),
    )
    found = rig.frontier(a="opencode:model=qwen-9", b="codex:model=gpt-5.6-sol")
    assert (found.status, found.frontier) == (Status.MEASURED, True)
    assert {one.harness for one in found.attempts if one.role is Role.A} == {"opencode 0.171.0"}
    assert rig.frontier(a="opencode:model=qwen-9").reason.startswith("0 of 3 attempts of reference solver b (Claude")


def test_who_plays_is_written_as_a_harness_and_a_model() -> None:
    assert references_of(None, None) == DEFAULTS
    assert references_of("codex:model=gpt-5.6-sol", None) == DEFAULTS
    for text in ("codex", "codex:model=", "codex:model=GPT 5.6 Sol", ":model=m", "codex:effort=high"):
        with pytest.raises(UserError, match=r"--reference-a: .*is no reference solver"):
            references_of(text, None)
    with pytest.raises(UserError, match="--reference-b: is the other reference solver as well"):
        references_of(None, "codex:model=gpt-5.6-sol")

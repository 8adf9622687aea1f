"""What is graded again and what is taken from the evidence; how differences are told. Nothing here needs an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import digest
from harness.errors import UserError
from harness.evidence import AttemptRecord
from harness.outcomes import Ending, Gate, Outcome, Rejection
from harness.records import TaskRef
from harness.regraded import Memory
from harness.regrading import Redone, as_recorded, key_of, recorded_since
from harness.releases import Releases
from harness.store import LocalStore
from harness.suites.hashing import GRADER_VERSION, ScoreBasis, score_inputs
from harness.suites.load import load_suite
from scoring.core import make_core
from scoring.reproduce import Cause, cause_of, core_of, differing, explain, sample
from tests.card_rig import Attempt, make_evidence, make_record, whole_run
from tests.plans import ZERO, plan
from trialbox.material import Candidate, suite_of

ROOT = Path(__file__).parent.parent


def record(folder: Path, **attempt: Any) -> AttemptRecord:
    of = plan(1, 1, 1)
    return make_record(LocalStore(folder), of, of.cells()[0], 1, Attempt(**attempt))


def without_change(one: AttemptRecord) -> AttemptRecord:
    assert one.capture is not None
    return one.model_copy(update={"capture": one.capture.model_copy(update={"manifest": None, "patch": None})})


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_is_either_graded_again_or_said_not_to_be(outcome: Outcome, tmp_path: Path) -> None:
    reason = recorded_since(record(tmp_path, outcome=outcome))
    again = {Outcome.SOLVED, Outcome.PARTIAL, Outcome.FAILED, Outcome.TIMEOUT, Outcome.REJECTED, Outcome.INVALID}
    assert (reason == "") is (outcome in again)


def test_what_left_no_change_is_taken_from_the_evidence_but_for_a_diff_that_did_not_apply(tmp_path: Path) -> None:
    for outcome in (Outcome.TIMEOUT, Outcome.REJECTED, Outcome.FAILED):
        assert recorded_since(without_change(record(tmp_path, outcome=outcome)))
    gone = without_change(record(tmp_path, outcome=Outcome.FAILED, kind=Gate.APPLY.value))
    assert recorded_since(gone) == ""


@pytest.mark.parametrize(
    ("outcome", "redone", "expected"),
    [
        (Outcome.FAILED, {}, Outcome.PARTIAL),
        (Outcome.TIMEOUT, {}, Outcome.TIMEOUT),
        (Outcome.SOLVED, {"gate": Gate.BUDGET, "grade": None}, Outcome.FAILED),
        (Outcome.TIMEOUT, {"gate": Gate.TYPECHECK, "grade": None}, Outcome.TIMEOUT),
        (Outcome.INVALID, {"base": "behaviour group x passes", "grade": None}, Outcome.INVALID),
        (Outcome.INVALID, {"base": "", "grade": None}, Outcome.INFRA),
    ],
)
def test_how_an_attempt_ends_by_what_grading_gave(
    outcome: Outcome, redone: dict[str, Any], expected: Outcome, tmp_path: Path
) -> None:
    base = record(tmp_path, outcome=Outcome.SOLVED)
    graded = record(tmp_path, outcome=Outcome.PARTIAL, behaviour=(True, False)).grade
    assert base.capture is not None and graded is not None
    before = base.model_copy(update={"outcome": outcome, "kind": "wall" if outcome is Outcome.TIMEOUT else ""})
    after = as_recorded(before, Redone(**{"manifest": base.capture.manifest, "grade": graded, **redone}))
    assert after.outcome is expected
    if expected is Outcome.TIMEOUT:
        assert after.kind == "wall"
    if "gate" in redone and expected is Outcome.FAILED:
        assert after.kind == redone["gate"].value


def test_a_rejection_outweighs_a_reached_limit_and_memory_running_out_is_kept(tmp_path: Path) -> None:
    late = record(tmp_path, outcome=Outcome.TIMEOUT, kind="wall")
    assert late.capture is not None and late.grade is not None and late.solve is not None
    refused = late.grade.model_copy(update={"verdicts": (), "rejection": Rejection.COMPILED_ARTIFACT})
    after = as_recorded(late, Redone(manifest=late.capture.manifest, grade=refused))
    assert (after.outcome, after.kind) == (Outcome.REJECTED, "compiled_artifact")
    starved = record(tmp_path, outcome=Outcome.SOLVED, kind="oom")
    assert starved.solve is not None and starved.capture is not None
    solve = starved.solve.model_copy(update={"ending": Ending.OUT_OF_MEMORY})
    starved = starved.model_copy(update={"solve": solve})
    after = as_recorded(starved, Redone(manifest=starved.capture.manifest, grade=starved.grade))
    assert (after.outcome, after.kind) == (Outcome.SOLVED, "oom")


@given(st.integers(0, 12), st.integers(0, 2**53 - 1))
def test_a_sample_is_a_part_of_the_cells_and_grows_with_its_number(count: int, seed: int) -> None:
    cells = plan(3, 2, 2).cells()
    chosen = sample(cells, count, seed)
    assert len(chosen) == min(count, len(cells)) and chosen <= {one.key for one in cells}
    assert chosen <= sample(cells, count + 1, seed)


def test_a_changed_verdict_is_explained_field_by_field(
    tmp_path: Path,
) -> None:
    store, of = LocalStore(tmp_path), plan()
    evidence = make_evidence(store, of, {})
    card = make_core(evidence)
    cell = of.cells()[2]
    assert core_of(evidence, {cell.key: evidence.final(cell)}) == card
    worse = make_record(store, of, cell, 1, Attempt(Outcome.PARTIAL, (True, False)))
    here = core_of(evidence, {cell.key: worse})
    assert differing(card, here) == (cell.key,)
    found = {one.field: one for one in explain(card, here, {cell.key: Cause.TASK})}
    assert found["core.cells[2].outcome"].card == '"solved"' and found["core.cells[2].outcome"].here == '"partial"'
    assert found["core.cells[2].verdicts[1].passed"].cell == cell.key
    totals = [one for one in found.values() if one.cell is None]
    assert any(one.field.startswith(f"core.aggregates.{cell.solver}.pass_at_1.") for one in totals)
    assert not any(one.flaky for one in found.values())
    assert all(one.flaky for one in explain(card, here, {cell.key: Cause.NONDETERMINISM}))


def test_the_likely_cause(tmp_path: Path) -> None:
    store, of = LocalStore(tmp_path), plan(1, 1, 1)
    (cell,) = make_core(make_evidence(store, of, {})).cells
    code = cell.model_copy(update={"combined": cell.combined.model_copy(update={"reason": "other tools"})})
    verdict = cell.model_copy(update={"outcome": Outcome.FAILED})
    assert cause_of(cell, verdict, flaky=False, foreign_image=False) is Cause.TASK
    assert cause_of(cell, code, flaky=False, foreign_image=False) is Cause.TOOL
    assert cause_of(cell, verdict, flaky=False, foreign_image=True) is Cause.IMAGE
    assert cause_of(cell, code, flaky=True, foreign_image=True) is Cause.NONDETERMINISM


def test_a_grading_is_remembered_by_all_that_decides_it(tmp_path: Path) -> None:
    one = record(tmp_path / "blobs")
    ref = one.task
    images = {"python": ZERO}
    keys = {
        key_of(one, ref, images),
        key_of(one, ref.model_copy(update={"score_hash": "sha256:" + "1" * 64}), images),
        key_of(one, ref, {"python": "sha256:" + "1" * 64}),
        key_of(record(tmp_path / "blobs", behaviour=(False, True)), ref, images),
        key_of(one.model_copy(update={"outcome": Outcome.INVALID}), ref, images),
    }
    assert len(keys) == 5
    memory, key = Memory(tmp_path / "memory"), key_of(one, ref, images)
    assert memory.get(key) is None
    redone = Redone(manifest=one.capture.manifest if one.capture else None, grade=one.grade)
    memory.keep(key, redone)
    kept = memory.get(key)
    assert kept is not None and kept.grade is not None and redone.grade is not None
    assert kept.grade.verdicts == redone.grade.verdicts and kept.grade.observations is None
    (path,) = (tmp_path / "memory").iterdir()
    path.write_bytes(path.read_bytes()[:40])
    assert memory.get(key) is None
    assert memory.forget() == 1 and memory.get(key) is None


def test_a_suite_of_another_grader_or_another_text_is_named(tmp_path: Path) -> None:
    card, _, _ = whole_run(tmp_path)
    suite = load_suite(ROOT / "tasks" / "smoke")
    task = suite.tasks[0]
    basis = ScoreBasis(image_locks={"python": ZERO, "base": ZERO})
    image = {"name": "python", "id": ZERO, "lock": ZERO}

    def card_with(score_hash: str) -> Any:
        ref = TaskRef(suite="smoke", suite_version="1.0.1", task=task.id, score_hash=score_hash, authoring_hash=ZERO)
        of = card.core.plan.model_validate(
            {
                **card.core.plan.model_dump(mode="json"),
                "tasks": [ref.model_dump()],
                "images": [image, {**image, "name": "base"}],
                "suite": {"name": "smoke", "version": "1.0.1", "hash": ZERO},
            }
        )
        return card.model_copy(update={"core": card.core.model_copy(update={"plan": of})})

    here = Candidate("installed", ROOT / "tasks" / "smoke", Releases())
    inputs = score_inputs(task, basis)
    assert suite_of(card_with(digest(inputs)), [here]).origin == "installed"
    with pytest.raises(UserError, match=f"by grader {GRADER_VERSION} here, by grader {GRADER_VERSION + 1} on the card"):
        suite_of(card_with(digest({**inputs, "grader": GRADER_VERSION + 1})), [here])
    with pytest.raises(UserError, match=f"task {task.id}: has the score hash"):
        suite_of(card_with("sha256:" + "5" * 64), [here])
    with pytest.raises(UserError, match="is not here"):
        suite_of(card_with(digest(inputs)), [])

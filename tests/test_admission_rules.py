"""The clauses that are a matter of records alone: the ladder, the repeats, the checklist, the frontier, the leaks."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from harness.digest import sha256_bytes
from harness.engine.cgroup import NO_USE, ResourceUse, UsageSource
from harness.evidence import AttemptRecord, GradeRecord, GroupVerdict
from harness.outcomes import Outcome, Rejection
from harness.records import Cell, ExecutionMode, Limits, TaskRef
from harness.suites.admission.frontier import ReferenceAttempt, Role, Status, frontier
from harness.suites.admission.ladder import ends_wrongly, out_of_order, separation
from harness.suites.admission.leaks import ImageText, Needles, found_in_image, found_in_volumes, needles_of
from harness.suites.admission.lint import lint, unshown
from harness.suites.admission.records import Separation, score, share
from harness.suites.admission.repeats import base_faults, reference_faults, spread, timing, timing_faults
from harness.suites.formats.common import CandidateKind
from harness.suites.groups import GroupKind, OracleKind, Trust
from harness.suites.tree import REGULAR, Entry, Tree
from tests.oracle_rig import make_task, tree


def verdicts(behaviour: str, regression: str = "") -> tuple[GroupVerdict, ...]:
    """Groups by a letter each: p passed, f failed."""
    kinds = [(GroupKind.BEHAVIOUR, one) for one in behaviour] + [(GroupKind.REGRESSION, one) for one in regression]
    return tuple(
        GroupVerdict(
            name=f"{kind.value}-{number}",
            kind=kind,
            oracle=OracleKind.CASES,
            trust=Trust.HOST_HELD,
            passed=letter == "p",
            checks=1,
            checks_passed=int(letter == "p"),
            detail="" if letter == "p" else "1 of 1 failed",
        )
        for number, (kind, letter) in enumerate(kinds, start=1)
    )


def grade(behaviour: str, regression: str = "", *, cpu_us: int | None = None, wall_us: int = 1, rejection=None):
    use = NO_USE if cpu_us is None else ResourceUse(source=UsageSource.CGROUP_V1, cpu_us=cpu_us)
    found = () if rejection else verdicts(behaviour, regression)
    return GradeRecord(verdicts=found, rejection=rejection, nonce="n", use=use, wall_us=wall_us)


def attempt(outcome: Outcome, graded: GradeRecord | None = None, kind: str = "") -> AttemptRecord:
    zero = sha256_bytes(b"")
    return AttemptRecord(
        plan=zero,
        cell=Cell(solver="wrong", task="t", attempt=1),
        attempt_try=1,
        task=TaskRef(suite="s", suite_version="1.0.0", task="t", score_hash=zero, authoring_hash=zero),
        mode=ExecutionMode.SEALED,
        limits=Limits(),
        cpuset="0",
        concurrency=1,
        outcome=outcome,
        kind=kind,
        reason="",
        grade=graded,
    )


@pytest.mark.parametrize(
    ("behaviour", "regression", "f"),
    [("pp", "p", 1), ("pf", "p", 0.5), ("pp", "f", 0), ("ff", "p", 0), ("pp", "", 1), ("", "p", 0)],
)
def test_a_score_is_gated_by_regressions(behaviour, regression, f):
    assert score(verdicts(behaviour, regression)) == f


@pytest.mark.parametrize(
    ("kind", "record", "said"),
    [
        (CandidateKind.WRONG, attempt(Outcome.PARTIAL, grade("pf")), ""),
        (CandidateKind.WRONG, attempt(Outcome.FAILED, grade("pp", "f")), ""),
        (CandidateKind.WRONG, attempt(Outcome.FAILED, kind="typecheck"), ""),
        (CandidateKind.WRONG, attempt(Outcome.SOLVED, grade("pp")), "is wrong, yet scores 1.0"),
        (CandidateKind.WRONG, attempt(Outcome.EXTRACT_FAILED), "before anything was graded"),
        (CandidateKind.WRONG, attempt(Outcome.FAILED, kind="apply"), "at apply, before anything was graded"),
        (CandidateKind.WRONG, attempt(Outcome.TIMEOUT, grade("ff"), "wall"), "before anything was graded"),
        (
            CandidateKind.WRONG,
            attempt(Outcome.REJECTED, grade("", rejection=Rejection.COMPILED_ARTIFACT), "compiled_artifact"),
            "before anything was graded",
        ),
        (CandidateKind.PARTIAL, attempt(Outcome.PARTIAL, grade("pf", "p")), ""),
        (CandidateKind.PARTIAL, attempt(Outcome.FAILED, grade("pf", "f")), "right in part, yet scores 0.0"),
        (CandidateKind.PARTIAL, attempt(Outcome.SOLVED, grade("pp", "p")), "right in part, yet scores 1.0"),
        (CandidateKind.BREAKER, attempt(Outcome.FAILED, grade("pf", "f")), ""),
        (CandidateKind.BREAKER, attempt(Outcome.FAILED, grade("ff", "f")), "passes none"),
        (CandidateKind.BREAKER, attempt(Outcome.PARTIAL, grade("pf", "p")), "fails none"),
    ],
)
def test_each_kind_of_candidate_must_show_what_it_is_for(kind, record, said):
    faults = list(ends_wrongly(kind, record))
    assert len(faults) == bool(said)
    assert said in "".join(faults)


def of_checks(*groups: tuple[int, int], regression: str = "") -> GradeRecord:
    """A grade by the checks passed, and all, of each behaviour group."""
    made = [
        one.model_copy(update={"checks": every, "checks_passed": passed, "passed": passed == every})
        for one, (passed, every) in zip(verdicts("p" * len(groups)), groups, strict=True)
    ]
    return grade("").model_copy(update={"verdicts": (*made, *verdicts("", regression))})


def test_the_share_of_checks_is_finer_than_the_score_and_gated_alike():
    assert share(of_checks((2, 6), (6, 7)).verdicts) == Fraction(8, 13)
    assert share(of_checks((6, 6), (7, 7), regression="pf").verdicts) == 0
    assert share(()) == 0


@pytest.mark.parametrize(
    ("graded", "by"),
    [
        (of_checks((1, 1), (1, 1), (1, 1), regression="p"), Separation.GROUPS),
        (of_checks((6, 6), (7, 7), regression="ppp"), Separation.CHECKS),
        (of_checks((1, 1), (1, 1)), Separation.CHECKS),
        (of_checks((5, 5)), Separation.CHECKS),
        (of_checks((1, 1), regression="pp"), Separation.NONE),
    ],
)
def test_the_number_of_groups_says_by_what_a_ladder_is_asked_for(graded, by):
    assert separation(attempt(Outcome.SOLVED, graded)) is by


NOTHING = attempt(Outcome.EXTRACT_FAILED)


def rungs(**graded: GradeRecord) -> list[tuple[str, CandidateKind, AttemptRecord]]:
    """Candidates by their kind and a number, as in ``wrong1``."""
    return [(name, CandidateKind(name[:-1]), attempt(Outcome.FAILED, one)) for name, one in graded.items()]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (rungs(wrong1=grade("pfff"), partial1=grade("ppff")), ""),
        (rungs(wrong1=grade("pfff"), wrong2=grade("ffff"), partial1=grade("ppff"), partial2=grade("pppf")), ""),
        (rungs(wrong1=grade("pfff"), partial1=grade("ppff"), breaker1=grade("pppp", "f")), ""),
        (rungs(wrong1=grade("ffff"), partial1=grade("ppff")), "no wrong candidate scores above noop, which has 0.0"),
        (rungs(wrong1=grade("pppf", "f"), partial1=grade("ppff")), "no wrong candidate scores above noop"),
        (rungs(partial1=grade("ppff")), "no wrong candidate scores above noop"),
        (rungs(wrong1=grade("pfff")), "there is no partial candidate"),
        (
            rungs(wrong1=grade("ppff"), wrong2=grade("pfff"), partial1=grade("pppf"), partial2=grade("ffpp")),
            "partial partial2 scores 0.5, which is not above wrong wrong1 with 0.5",
        ),
        (
            rungs(wrong1=grade("pppf"), partial1=grade("pfff")),
            "partial partial1 scores 0.25, which is not above wrong wrong1 with 0.75",
        ),
    ],
)
def test_the_rungs_of_a_ladder_are_in_order(made, said):
    faults = list(out_of_order(Separation.GROUPS, NOTHING, made, groups=4))
    assert len(faults) == bool(said)
    assert said in "".join(faults)


def test_where_groups_are_few_checks_tell_the_rungs_apart():
    idle = attempt(Outcome.FAILED, of_checks((1, 6), (0, 7)))
    good = rungs(wrong1=of_checks((2, 6), (6, 7)), partial1=of_checks((6, 6), (4, 7)))
    assert list(out_of_order(Separation.CHECKS, idle, good, groups=2)) == []
    level = rungs(wrong1=of_checks((1, 6), (0, 7)), partial1=of_checks((6, 6), (4, 7)))
    (fault,) = out_of_order(Separation.CHECKS, idle, level, groups=2)
    assert fault == "no wrong candidate scores above noop, which has 0.0 (0.0769 of its checks)"
    same = rungs(wrong1=of_checks((6, 6), (4, 7)), partial1=of_checks((6, 6), (4, 7)))
    (fault,) = out_of_order(Separation.CHECKS, idle, same, groups=2)
    assert "scores 0.5 (0.7692 of its checks), which is not above wrong wrong1 with 0.5" in fault


def test_of_one_group_nothing_can_be_right_in_part():
    one = rungs(wrong1=of_checks((3, 5)))
    assert list(out_of_order(Separation.CHECKS, NOTHING, one, groups=1)) == []
    assert list(out_of_order(Separation.NONE, NOTHING, rungs(wrong1=of_checks((0, 1))), groups=1)) == []


def test_the_reference_must_score_full_marks_each_time():
    assert list(reference_faults([grade("pp", "p")] * 3)) == []
    (fault,) = reference_faults([grade("pp"), grade("pf"), grade("pp")])
    assert fault == "scores 0.5 in grading 2: group behaviour-2: 1 of 1 failed"
    assert spread([grade("pp"), grade("pf")]) == 0.5


def test_the_base_must_fail_behaviour_and_pass_regressions_each_time():
    assert list(base_faults([grade("ff", "pp")] * 3)) == []
    assert list(base_faults([grade("ff", "p"), grade("pf", "p"), grade("pf", "f")])) == [
        "behaviour group behaviour-1 passes",
        "regression group regression-3 fails (1 of 1 failed)",
    ]


def test_the_reference_may_use_a_fifth_of_the_limit():
    used = timing([grade("p", cpu_us=12_000_000), grade("p", cpu_us=11_000_000)], 60)
    assert (used.used_us, used.share) == (12_000_000, "0.2")
    assert list(timing_faults(used)) == []
    (fault,) = timing_faults(timing([grade("p", cpu_us=12_000_001)], 60))
    assert fault == "the reference takes 12.0 s of 60 s; at most 12 s are allowed"
    assert timing([grade("p", wall_us=9), grade("p", wall_us=7)], 60).used_us == 7


# ------------------------------------------------------------------------------------------------------------- lint

GROUPS = [
    {"name": "titles", "kind": "behaviour", "oracle": "cases", "file": "hidden/a.json"},
    {"name": "plain", "kind": "regression", "oracle": "cases", "file": "hidden/a.json"},
]
A_CASE = {"a.json": {"target": "a:f", "cases": [{"args": [1], "expect": 1}]}}
TASK = make_task(tree({"a.py": "def f(x):\n    return x\n"}), GROUPS, A_CASE)


def entry(prompt="p", groups=("titles", "plain"), wrong=()):
    return SimpleNamespace(behaviour="b", prompt=prompt, groups=groups, wrong=wrong)


@pytest.mark.parametrize(
    ("failed", "kills", "left"),
    [
        ({}, (), ("titles",)),
        ({"a": frozenset({"plain"})}, ("plain", "", "rejected: policy"), ("titles",)),
        ({"a": frozenset({"titles"})}, (), ()),
        ({}, ("plain, titles",), ()),
    ],
)
def test_groups_that_only_the_base_fails_are_listed(failed, kills, left):
    assert [one.name for one in TASK.groups if one.kind is GroupKind.BEHAVIOUR] == ["titles"]
    assert unshown(TASK, failed, kills) == left


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ((entry(),), ""),
        ((entry(prompt="no such words"),), "checklist 1: the prompt does not say 'no such words'"),
        ((entry(groups=("titles",)),), "checklist: no entry covers group 'plain'"),
        ((entry(wrong=("breaks-titles",)),), ""),
        ((entry(groups=("plain",), wrong=("breaks-titles",)), entry(groups=("titles",))), "passes every group"),
        ((entry(wrong=("unknown",)),), "checklist 1: there is no candidate 'unknown'"),
    ],
)
def test_a_checklist_is_held_against_prompt_groups_and_candidates(entries, said):
    problems = list(lint(TASK, entries, {"breaks-titles": frozenset({"titles"})}))
    assert len(problems) == bool(said)
    assert said in "".join(problems)


# --------------------------------------------------------------------------------------------------------- frontier


def attempts(a: str, b: str, minutes: int = 1) -> list[ReferenceAttempt]:
    """Reference attempts by a letter each: s solved, f failed."""
    return [
        ReferenceAttempt(
            role=role,
            model=f"m-{role}",
            harness="h 1",
            provider="p",
            solved=one == "s",
            wall_us=minutes * 60_000_000,
        )
        for role, text in ((Role.A, a), (Role.B, b))
        for one in text
    ]


@pytest.mark.parametrize(
    ("made", "hard"),
    [
        (attempts("sff", "sss", 10), True),
        (attempts("sff", "sss", 9), False),
        (attempts("sff", "ssf", 1), True),
        (attempts("ssf", "sff", 60), False),
        (attempts("fff", "fff"), True),
        (attempts("sss", "sss"), False),
        (attempts("sffffff", "sssf", 1), False),
    ],
)
def test_the_rule_of_two_reference_solvers(made, hard):
    found = frontier(made)
    assert (found.status, found.frontier, found.reason) == (Status.MEASURED, hard, "")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([], "0 of 3 attempts of reference solver a"),
        (attempts("sff", "ss"), "2 of 3 attempts of reference solver b"),
        (
            [*attempts("sf", "sss"), attempts("f", "")[0].model_copy(update={"harness": "h 2"})],
            "not of one model under one harness",
        ),
    ],
)
def test_without_three_attempts_of_each_nothing_is_said(made, said):
    found = frontier(made)
    assert (found.status, found.frontier) == (Status.NOT_MEASURED, None)
    assert said in found.reason


# ------------------------------------------------------------------------------------------------------------ leaks

CANARY = b"trialbox-exposure-" + b"5e" * 16
LINES = frozenset(f"line number {n} of the reference, long enough".encode() for n in range(6))
NEEDLES = Needles((CANARY,), (b"an expected value of some length", b"another expected value that is long"), LINES)
TWO, ONE = b"\n    ".join(sorted(LINES)[:3]), min(LINES)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a", b"x" + CANARY + b"y", ["a holds a canary"]),
        (CANARY.decode(), b"", [f"{CANARY.decode()} holds a canary"]),
        ("a", b"say: an expected value of some length.", ["a holds an expected value"]),
        ("a", TWO, ["a holds lines of the reference"]),
        ("a", ONE, []),
        ("a", b"nothing", []),
    ],
)
def test_what_is_found_on_the_volumes(name, data, said):
    assert list(found_in_volumes(NEEDLES, [(name, data)])) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (CANARY, ["a holds a canary"]),
        (b"an expected value of some length", []),
        (b"an expected value of some length, another expected value that is long", ["a holds expected values"]),
        (TWO, ["a holds lines of the reference"]),
        (ONE, []),
    ],
)
def test_in_an_image_one_value_is_chance(data, said):
    assert list(found_in_image(NEEDLES, ImageText([("a", data)]))) == said


def test_lines_that_the_reference_only_moves_are_no_needles():
    moved, new = "a_line_that_was_there_before = 1", "a_line_that_nobody_has_seen_yet_at_all_until_now = 2"
    reference = TASK.before.overlay(
        Tree([Entry("a.py", REGULAR, b""), Entry("b.py", REGULAR, f"{moved}\n{new}\n".encode())])
    )
    before = TASK.before.overlay(Tree([Entry("a.py", REGULAR, f"{moved}\n".encode())]))
    task = make_task(before, GROUPS, A_CASE)
    assert needles_of(task, reference).lines == {new.encode()}

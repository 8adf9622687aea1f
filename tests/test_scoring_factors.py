"""F, Q, S and the combined score as pure functions of records."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from radon.metrics import mi_compute, mi_parameters, mi_visit

from harness.records import from_json, to_json
from harness.scan.records import Metrics, ScannedFile, ScanRecord, Side, Trouble, Unit, Violation
from harness.suites.groups import GroupKind
from scoring.factor import Factor, factor, no_factor
from scoring.formula import CLASSIC, COMBINED, FORMULA, FactorName, combined
from scoring.functional import functional, solved
from scoring.lint import maintainability_index, quality
from scoring.quality import NOT_REVIEWED, code_quality
from scoring.security import is_test, security

BEHAVIOUR, REGRESSION = GroupKind.BEHAVIOUR, GroupKind.REGRESSION
FRACTIONS = st.fractions(0, 1, max_denominator=1000)


def _verdicts(*pairs):
    return [SimpleNamespace(kind=kind, passed=passed) for kind, passed in pairs]


@pytest.mark.parametrize(
    ("pairs", "exact", "value"),
    [
        ([(BEHAVIOUR, True), (BEHAVIOUR, True), (REGRESSION, True)], "1/1", "1.000000"),
        ([(BEHAVIOUR, True), (BEHAVIOUR, False), (BEHAVIOUR, True)], "2/3", "0.666667"),
        ([(BEHAVIOUR, True), (REGRESSION, False), (REGRESSION, True)], "0/1", "0.000000"),
        ([(BEHAVIOUR, False)], "0/1", "0.000000"),
    ],
)
def test_f(pairs, exact, value):
    score = functional(_verdicts(*pairs))
    assert (score.exact, score.figure.value) == (exact, value)
    assert solved(score) is (exact == "1/1")


def test_f_of_no_behaviour_group_is_missing():
    score = functional(_verdicts((REGRESSION, True)))
    assert score.fraction is None
    assert score.figure.reason == "the task has no behaviour group"
    assert not solved(score)


def _all(f, q, s, c):
    return dict(zip(FactorName, (f, q, s, c), strict=True))


def test_combined_under_both_profiles():
    scores = _all(*(factor(Fraction(n, 3), {}) for n in (3, 2, 1, 2)))
    # 100 (0.5 + 0.085 2/3 + 0.085 1/3 + 0.33 2/3) and 100 (0.5 + 0.15 2/3 + 0.15 1/3 + 0.2 2/3), by hand
    assert combined(COMBINED, scores).value == "80.500000"
    assert combined(CLASSIC, scores).value == "78.333333"


def test_all_factors_at_one_give_exactly_100():
    one = factor(Fraction(1), {})
    for profile in FORMULA.profiles:
        assert sum(map(Fraction, profile.weights.values())) == 1
        assert combined(profile, _all(one, one, one, one)).value == "100.000000"


@given(FRACTIONS, FRACTIONS, FRACTIONS, st.sets(st.sampled_from(FactorName), min_size=1))
def test_a_missing_factor_is_named_and_never_reweighted(a, b, c, lacking):
    scores = _all(factor(a, {}), factor(b, {}), factor(c, {}), factor(a, {}))
    scores |= {name: no_factor("because") for name in lacking}
    for profile in FORMULA.profiles:
        figure = combined(profile, scores)
        assert figure.value is None
        for name in FactorName:
            assert (f"{name.value} is unavailable: because" in figure.reason) is (name in lacking)


def test_c_is_missing_with_its_reason():
    assert code_quality().figure.reason == NOT_REVIEWED
    assert from_json(Factor, to_json(code_quality())) == code_quality()


def test_a_factor_cannot_contradict_itself():
    with pytest.raises(ValueError, match="is not"):
        Factor(figure=factor(Fraction(1, 2), {}).figure, exact="1/3", parts={})


def test_the_formula_has_one_digest():
    assert FORMULA.digest == type(FORMULA).model_validate(FORMULA.model_dump()).digest
    other = FORMULA.model_copy(update={"method": FORMULA.method + 1})
    assert other.digest != FORMULA.digest


# -------------------------------------------------------------------------------------------------- the scan's records


def _metrics(length=0, vocabulary=0, statements=1, complexity=1):
    return Metrics(
        units=(Unit(name="<module>", complexity=complexity, code="0" * 16),),
        halstead_length=length,
        halstead_vocabulary=vocabulary,
        statements=statements,
    )


def _side(**known):
    nothing = {"code": "0" * 16, "violations": (), "metrics": _metrics(), "findings": ()}
    return Side(**nothing | known)


def _record(before, after, **known):
    one = ScannedFile(path="a.py", before_blob=None, after_blob=None, before=before, after=after)
    return ScanRecord(**{"changed": 1, "python": 1, "complete": True, "tools": None, "files": (one,)} | known)


def test_index_of_the_published_example():
    # research vector: volume 3 log2 3, complexity 2, 4 logical lines, no comment
    assert str(maintainability_index(_metrics(3, 3, 4, 2))) == "81.856334"


def test_the_published_example_is_what_radon_makes_of_its_source():
    source = "def f(x):\n    if x > 0:\n        return 1\n    return 0\n"
    volume, complexity, statements, comments = mi_parameters(source)
    assert (round(volume, 9), complexity, statements, comments) == (4.754887502, 2, 4, 0)
    assert mi_visit(source, multi=True) == pytest.approx(81.856334245, abs=1e-9)


@pytest.mark.parametrize(
    ("volume", "complexity", "statements", "comments", "index"),
    [
        (10, 2, 5, 0, 77.481674465),
        (1000, 20, 200, 10, 43.926759143),
        (8000, 60, 800, 0, 1.272436576),
        (0, 1, 1, 0, 100),
    ],
)
def test_radons_index_which_also_rewards_comments(volume, complexity, statements, comments, index):
    """It is the formula that ours is compared with below; ours counts no comment and has no jump at volume 0."""
    assert mi_compute(volume, complexity, statements, comments) == pytest.approx(index, abs=1e-9)


@pytest.mark.parametrize(
    ("bits", "complexity", "statements", "index"), [(10, 2, 5, "77.481674"), (8000, 60, 800, "1.272437")]
)
def test_index_of_the_published_volumes_without_comments(bits, complexity, statements, index):
    # with a vocabulary of two the volume is the length: one bit a word
    assert str(maintainability_index(_metrics(bits, 2, statements, complexity))) == index


@given(st.integers(2, 10**6), st.integers(2, 10**5), st.integers(1, 10**5), st.integers(1, 10**4))
def test_index_is_radons_without_comments(length, vocabulary, statements, complexity):
    ours = float(maintainability_index(_metrics(length, vocabulary, statements, complexity)))
    assert ours == pytest.approx(mi_compute(length * math.log2(vocabulary), complexity, statements, 0), abs=1e-6)


def test_index_without_operators_has_no_jump():
    assert str(maintainability_index(_metrics(0, 0, 0))) == "99.865497"
    assert maintainability_index(_metrics(0, 0, 100)) < maintainability_index(_metrics(0, 0, 10)) < 100


@pytest.mark.parametrize("score", [quality, security])
def test_no_scan_is_missing(score):
    assert score(None).figure.reason == "the change was not scanned"


@pytest.mark.parametrize("score", [quality, security])
def test_too_many_files_is_missing(score):
    record = ScanRecord(changed=500, python=450, complete=False, tools=None, files=())
    assert score(record).figure.reason == "more than 400 Python files or 4 MB of Python changed"


@pytest.mark.parametrize("trouble", Trouble)
def test_any_trouble_is_missing_with_file_side_and_reason(trouble):
    record = _record(None, Side(trouble=trouble))
    for score in (quality, security):
        assert score(record).fraction is None
        assert f"'a.py' after: {trouble.text}" in score(record).figure.reason


def test_one_missing_part_makes_q_missing_and_leaves_s():
    record = _record(None, _side(violations=None, violations_trouble=Trouble.TOOL))
    assert quality(record).fraction is None
    assert quality(record).parts["complexity"].value == "1.000000"
    assert security(record).fraction == 1
    record = _record(None, _side(findings=None, findings_trouble=Trouble.TOOL))
    assert quality(record).fraction is not None
    assert security(record).fraction is None


def test_a_hostile_path_is_escaped_in_the_reason():
    one = ScannedFile(
        path="\x1b[2J\u202e.py", before_blob=None, after_blob=None, before=None, after=Side(trouble="size")
    )
    record = ScanRecord(changed=1, python=1, complete=True, tools=None, files=(one,))
    assert quality(record).figure.reason.isprintable()
    assert quality(record).figure.reason.isascii()


def test_a_violation_without_an_added_line_counts_over_one_line():
    left = Violation(rule="F401", line="1" * 16, row=1)
    record = _record(
        _side(code="1" * 16, lines=("1" * 16, "2" * 16)), _side(code="2" * 16, lines=("1" * 16,), violations=(left,))
    )
    assert quality(record).parts["lint"].value == "0.000000"


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("test_a.py", True),
        ("a/b_test.py", True),
        ("conftest.py", True),
        ("tests/helper.py", True),
        ("a/test/helper.py", True),
        ("testing/a.py", False),
        ("latest.py", False),
        ("tests.py", False),
    ],
)
def test_what_is_a_test_file(path, test):
    assert is_test(path) is test

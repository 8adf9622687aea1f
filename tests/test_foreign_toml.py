"""Writing TOML: what is written reads back as it was."""

from __future__ import annotations

import datetime
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from harness.suites.foreign.draft import task_id
from harness.suites.foreign.toml import dump_toml
from harness.suites.paths import check_relative

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
plain = st.one_of(st.booleans(), st.integers(-(2**53), 2**53), text, st.dates(), st.lists(text, max_size=3))
tables = st.dictionaries(text, plain, max_size=4)
documents = st.dictionaries(
    text,
    st.one_of(plain, tables, st.lists(tables, min_size=1, max_size=3), st.dictionaries(text, tables, max_size=2)),
    max_size=5,
)


@given(documents)
def test_it_reads_back(document: dict[str, object]) -> None:
    assert tomllib.loads(dump_toml(document)) == document


def test_none_is_left_out_and_dates_stay_dates() -> None:
    written = dump_toml({"a": None, "b": {"c": datetime.date(2026, 1, 2), "d": [{"e": 1}]}})
    assert tomllib.loads(written) == {"b": {"c": datetime.date(2026, 1, 2), "d": [{"e": 1}]}}


@given(st.text(min_size=1, max_size=200))
def test_any_id_becomes_a_task_id(origin: str) -> None:
    made = task_id(origin)
    assert len(made) <= 48
    assert made[0].isalpha()
    assert made == made.lower()
    check_relative(made)


def test_ids_of_the_public_benchmarks() -> None:
    assert task_id("django__django-11099") == "django-django-11099"
    long = "instance_" + "x" * 60
    assert task_id(long) != task_id(long + "y")
    assert len(task_id(long)) <= 48

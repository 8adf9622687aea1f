"""Canonical bytes: the quick way writes what the library writes, and refuses what it refuses."""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import MAX_SAFE_INTEGER, canonical, loads, loads_exact

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.text()
    | st.text('\x00\x1f"\\/\x7fa'),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


class _Word(StrEnum):
    ONE = "one"


@given(_VALUES)
def test_the_bytes_are_the_librarys(value: object) -> None:
    try:
        expected = rfc8785.dumps(value)  # type: ignore[arg-type]
    except rfc8785.CanonicalizationError:
        with pytest.raises(rfc8785.CanonicalizationError):
            canonical(value)
    else:
        assert canonical(value) == expected
        assert canonical(loads(expected)) == expected


@pytest.mark.parametrize("value", [{"b": 1, "a": OrderedDict(z=1, y=2)}, {"word": _Word.ONE}, {"é": 1, "z": 2, "𝄞": 3}])
def test_types_of_ones_own_are_written_as_the_library_writes_them(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.0, [{1: 2}, 1.0], {"a": {"b": [2**53, 0.5]}}, (float("nan"),)])
def test_a_float_is_refused_wherever_it_is(value: object) -> None:
    with pytest.raises(TypeError, match="float"):
        canonical(value)


@pytest.mark.parametrize("value", [2**53, {1: 2}, {None: 1}, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical(value)


def test_endless_depth_is_no_json_like_any_other_that_is_none() -> None:
    for read in (loads, loads_exact):
        with pytest.raises(ValueError, match="nests too deep"):
            read(b"[" * 100_000)

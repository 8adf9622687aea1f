"""What a side changed."""

from quillmerge.diff import Change, changes


def test_nothing() -> None:
    assert changes(["a", "b"], ["a", "b"]) == []


def test_a_replaced_line_and_an_insertion() -> None:
    assert changes(list("abcd"), list("axcde")) == [Change(1, 2, ("x",)), Change(4, 4, ("e",))]


def test_a_deletion() -> None:
    assert changes(list("abc"), list("ac")) == [Change(1, 2, ())]

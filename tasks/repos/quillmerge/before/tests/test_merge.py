"""Merges."""

from quillmerge.merge import merge3

BASE = "one\ntwo\nthree\nfour\nfive\n"


def test_changes_far_apart() -> None:
    ours, theirs = BASE.replace("one", "ONE"), BASE.replace("five", "FIVE")
    assert merge3(BASE, ours, theirs) == {"text": "ONE\ntwo\nthree\nfour\nFIVE\n", "conflicts": 0}


def test_the_same_change_twice() -> None:
    ours = BASE.replace("three", "3")
    assert merge3(BASE, ours, ours) == {"text": ours, "conflicts": 0}


def test_a_conflict() -> None:
    ours, theirs = BASE.replace("three", "3"), BASE.replace("three", "III")
    text = "one\ntwo\n<<<<<<< ours\n3\n=======\nIII\n>>>>>>> theirs\nfour\nfive\n"
    assert merge3(BASE, ours, theirs) == {"text": text, "conflicts": 1}


def test_form_feeds_end_no_line() -> None:
    base = "a\x0cb\nc\nd\n"
    assert merge3(base, base.replace("d", "D"), base.replace("a", "A"))["text"] == "A\x0cb\nc\nD\n"

"""What the shop counts on."""

import pytest

from beads import expand, shorten


@pytest.mark.parametrize(
    ("short", "beads"),
    [("", ""), ("R", "R"), ("3R2(BW)", "RRRBWBW"), ("2(R2(BW)G)", "RBWBWGRBWBWG"), ("12R", "R" * 12)],
)
def test_expand(short, beads):
    assert expand(short) == beads


def test_many_groups():
    assert expand("10(RB)11W") == "RB" * 10 + "W" * 11


@pytest.mark.parametrize("bad", ["3", "(R", "R)", "0R", "r", "2()", "03R", "²R"])
def test_what_is_no_string(bad):
    with pytest.raises(ValueError):
        expand(bad)


@pytest.mark.parametrize(("beads", "short"), [("", ""), ("RBW", "RBW"), ("RRBRR", "2RB2R"), ("W" * 23, "23W")])
def test_shorten(beads, short):
    assert shorten(beads) == short


@pytest.mark.parametrize("beads", ["R", "RRRRRRRRRRRRB", "BWWBWWB"])
def test_there_and_back(beads):
    assert expand(shorten(beads)) == beads

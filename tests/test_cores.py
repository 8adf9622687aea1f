"""A cpuset is spelled as the kernel gives it back, or the seal would take it for another."""

from __future__ import annotations

import pytest

from harness.cores import Cores, spelled


@pytest.mark.parametrize(("cores", "cpuset"), [([5], "5"), ([0, 1], "0-1"), ([3, 0, 1], "0-1,3"), ([4, 0, 2], "0,2,4")])
def test_neighbours_are_a_range(cores, cpuset):
    assert spelled(cores) == cpuset


def test_two_cores_of_two():
    with Cores(range(2)).pinned(2) as cpuset:
        assert cpuset == "0-1"

"""What is begun ahead is always ended, taken or not, and what it raises is raised where it is taken."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from harness.ahead import Ahead


def _thing(log, fail=False):
    @contextmanager
    def make():
        if fail:
            raise OSError("no")
        log.append("made")
        try:
            yield "thing"
        finally:
            log.append("ended")

    return make


def test_taken_and_ended():
    log = []
    with Ahead(_thing(log)) as ahead:
        ahead.start()
        assert ahead.take() == ahead.take() == "thing"
    assert log == ["made", "ended"]


def test_begun_but_never_taken_is_ended():
    log = []
    with Ahead(_thing(log)) as ahead:
        ahead.start()
    assert log == ["made", "ended"]


def test_never_begun_is_nothing():
    log = []
    with Ahead(_thing(log)):
        pass
    assert log == []


def test_ended_though_the_block_fails():
    log = []
    with pytest.raises(KeyError), Ahead(_thing(log)) as ahead:
        ahead.start()
        raise KeyError
    assert log == ["made", "ended"]


def test_a_failure_is_raised_where_it_is_taken():
    with Ahead(_thing([], fail=True)) as ahead:
        ahead.start()
        with pytest.raises(OSError, match="no"):
            ahead.take()

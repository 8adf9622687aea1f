# trialbox-exposure-cbabc82c8064766f852d7b350a155a1e
from contextlib import ExitStack

import pytest
from lanterns import Board, Cue, frames


class Hiccup(Exception):
    pass


def test_it_ends_with_an_exception():
    board = Board("moon", "sun")
    board.set("moon", 7)
    with pytest.raises(Hiccup), board.override("moon", 40):
        raise Hiccup
    assert board.levels() == {"moon": 7, "sun": 0}


def test_what_is_set_meanwhile_is_kept():
    board = Board("moon")
    with board.override("moon", 40):
        board.set("moon", 9)
        assert board.level("moon") == 40
        assert board.levels() == {"moon": 40}
        board.set("moon", 11)
    assert board.level("moon") == 11


def test_they_end_in_any_order():
    board = Board("moon")
    board.set("moon", 1)
    first, second, third = (board.override("moon", level) for level in (10, 20, 30))
    seen = []
    for step in (first.__enter__, second.__enter__, third.__enter__):
        step()
        seen.append(board.level("moon"))
    for one in (second, third, first):
        one.__exit__(None, None, None)
        seen.append(board.level("moon"))
    assert seen == [10, 20, 30, 30, 10, 1]


def test_equal_overrides_are_told_apart():
    board = Board("moon")
    low, high, again = (board.override("moon", level) for level in (10, 20, 10))
    for one in (low, high, again):
        one.__enter__()
    low.__exit__(None, None, None)
    assert board.level("moon") == 10
    again.__exit__(None, None, None)
    assert board.level("moon") == 20
    high.__exit__(None, None, None)
    assert board.level("moon") == 0


def test_what_is_refused_changes_nothing():
    board = Board("moon")
    with ExitStack() as stack:
        stack.enter_context(board.override("moon", 5))
        with pytest.raises(ValueError), board.override("moon", 256):
            pass
        with pytest.raises(KeyError), board.override("mars", 5):
            pass
        assert board.levels() == {"moon": 5}
    assert board.levels() == {"moon": 0}


def test_a_show_plays_underneath():
    board = Board("moon", "sun")
    play = frames([Cue(0, "moon", 100, 4)], board)
    seen = [next(play)["moon"]]
    with board.override("moon", 3):
        seen += [next(play)["moon"], next(play)["moon"]]
    seen += [board.level("moon"), next(play)["moon"], next(play)["moon"]]
    assert seen == [0, 3, 3, 50, 75, 100]
    assert next(play, None) is None

# trialbox-exposure-cbabc82c8064766f852d7b350a155a1e
import pytest
from lanterns import Board, Cue, frames


def test_levels_are_checked():
    board = Board("moon")
    board.set("moon", 255)
    for level in (-1, 256):
        with pytest.raises(ValueError):
            board.set("moon", level)
    with pytest.raises(KeyError):
        board.set("mars", 5)
    assert board.levels() == {"moon": 255}


def test_overrides_nest():
    board = Board("moon", "sun")
    with board.override("moon", 10):
        with board.override("moon", 20), board.override("sun", 5):
            assert board.levels() == {"moon": 20, "sun": 5}
        assert board.levels() == {"moon": 10, "sun": 0}
    assert board.levels() == {"moon": 0, "sun": 0}


@pytest.mark.parametrize(
    ("begin", "to", "seen"),
    [(0, 10, [0, 3, 6, 10]), (10, 0, [10, 7, 4, 0]), (5, 5, [5, 5, 5, 5])],
    ids=["up", "down", "level"],
)
def test_steps_are_rounded_towards_the_beginning(begin, to, seen):
    board = Board("moon")
    board.set("moon", begin)
    assert [frame["moon"] for frame in frames([Cue(0, "moon", to, 3)], board)] == seen


def test_gaps_are_played():
    board = Board("moon", "sun")
    cues = [Cue(1, "moon", 4), Cue(4, "sun", 6)]
    assert [tuple(frame.values()) for frame in frames(cues, board)] == [(0, 0), (4, 0), (4, 0), (4, 0), (4, 6)]


def test_no_cues_no_frames():
    board = Board("moon")
    assert list(frames([], board)) == []
    assert board.levels() == {"moon": 0}

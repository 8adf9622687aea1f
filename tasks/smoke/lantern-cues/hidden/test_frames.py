# trialbox-exposure-cbabc82c8064766f852d7b350a155a1e
from itertools import count, islice

import pytest
from lanterns import Board, Cue, frames


def levels(cues, board, channel):
    return [frame[channel] for frame in frames(cues, board)]


def test_there_may_be_no_end_of_cues():
    def blink():
        for n in count(1):
            assert n < 100, "far more read than played"
            yield Cue(3 * n, "moon", 50 * (n % 2))

    play = frames(blink(), Board("moon"))
    assert [frame["moon"] for frame in islice(play, 11)] == [0, 0, 0, 50, 50, 50, 0, 0, 0, 50, 50]


def test_one_cue_at_most_is_read_ahead():
    read = []

    def script():
        for at in (0, 0, 2, 5, 5, 9):
            read.append(at)
            yield Cue(at, "moon", 10 + at)

    play = frames(script(), Board("moon"))
    ahead = []
    for tick in range(7):
        next(play)
        ahead.append(len(read) - sum(at <= tick for at in (0, 0, 2, 5, 5, 9)))
    assert all(0 <= extra <= 1 for extra in ahead)


def test_a_fade_begins_where_the_lamp_is():
    board = Board("moon")
    cues = [Cue(0, "moon", 90, 3), Cue(5, "moon", 30, 3)]
    assert levels(cues, board, "moon") == [0, 30, 60, 90, 90, 90, 70, 50, 30]


def test_a_fade_can_be_cut_short():
    board = Board("moon", "sun")
    cues = [Cue(0, "moon", 100, 10), Cue(3, "moon", 0, 2)]
    assert levels(cues, board, "moon") == [0, 10, 20, 20, 10, 0]


def test_of_one_tick_the_last_counts():
    board = Board("moon")
    cues = [Cue(1, "moon", 80), Cue(1, "moon", 9, 3), Cue(1, "moon", 40, 2)]
    assert levels(cues, board, "moon") == [0, 0, 20, 40]


def test_a_fade_begins_underneath():
    board = Board("moon")
    board.set("moon", 60)
    with board.override("moon", 200):
        play = frames([Cue(0, "moon", 0, 3)], board)
        assert [next(play)["moon"], next(play)["moon"]] == [200, 200]
    assert [frame["moon"] for frame in play] == [20, 0]


def test_cues_out_of_order_are_refused_when_read():
    board = Board("moon")
    play = frames(iter([Cue(0, "moon", 5), Cue(4, "moon", 6), Cue(3, "moon", 7)]), board)
    assert [next(play)["moon"] for _ in range(4)] == [5, 5, 5, 5]
    with pytest.raises(ValueError):
        next(play)

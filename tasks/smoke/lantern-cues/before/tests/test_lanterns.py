"""The evening show, as it has always been played."""

from lanterns import Board, Cue, frames


def test_dusk():
    board = Board("moon", "sun")
    board.set("sun", 200)
    dusk = [Cue(0, "sun", 0, 4), Cue(2, "moon", 90)]
    assert list(frames(dusk, board)) == [
        {"moon": 0, "sun": 200},
        {"moon": 0, "sun": 150},
        {"moon": 90, "sun": 100},
        {"moon": 90, "sun": 50},
        {"moon": 90, "sun": 0},
    ]


def test_a_hand_on_the_lamp():
    board = Board("moon")
    with board.override("moon", 40):
        assert board.level("moon") == 40
    assert board.level("moon") == 0

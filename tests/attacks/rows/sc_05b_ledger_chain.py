"""Cuts the end of the ledger's chain of happenings."""

from tests.attacks.ledgered import after
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=after("DELETE FROM chain WHERE seq = (SELECT max(seq) FROM chain)"),
    verdict=("tampered: its card",),
    honest="reads the ledger",
    control=after("SELECT count(*) FROM tries"),
    control_ends="clean",
)

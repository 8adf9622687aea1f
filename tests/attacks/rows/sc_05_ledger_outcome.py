"""Turns an outcome in the ledger."""

from tests.attacks.ledgered import after
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=after("UPDATE tries SET outcome = 'failed' WHERE outcome = 'solved'"),
    verdict=("tampered: its tries",),
    honest="reads the ledger",
    control=after("SELECT count(*) FROM tries"),
    control_ends="clean",
)

"""Takes a bad try out of the ledger."""

from tests.attacks.ledgered import after
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=after("DELETE FROM tries WHERE outcome = 'infra'"),
    verdict=("tampered: its tries",),
    honest="reads the ledger",
    control=after("SELECT count(*) FROM tries"),
    control_ends="clean",
)

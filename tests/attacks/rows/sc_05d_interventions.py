"""Takes back that the run was interrupted and gone on with."""

from tests.attacks.ledgered import after
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=after("DELETE FROM interventions WHERE kind = 'resume'"),
    verdict=("tampered: its interventions",),
    honest="reads the ledger",
    control=after("SELECT count(*) FROM tries"),
    control_ends="clean",
)

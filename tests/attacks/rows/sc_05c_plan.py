"""Changes the plan after the run, and with it the denominator."""

from tests.attacks.ledgered import after
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=after("UPDATE runs SET plan = plan || ' '"),
    verdict=("tampered: its run",),
    honest="reads the ledger",
    control=after("SELECT count(*) FROM tries"),
    control_ends="clean",
)

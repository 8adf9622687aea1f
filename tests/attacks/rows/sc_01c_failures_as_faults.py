"""Has failures excluded as faults of the machine."""

from harness.outcomes import Outcome
from tests.attacks.offered import REAL, offered
from tests.attacks.pair import Pair, Stage
from tests.card_rig import Attempt

PAIR = Pair(
    stage=Stage.SCORE,
    attack=offered(tries={REAL.cells()[0]: [Attempt(Outcome.INFRA, None, kind="host")]}),
    verdict=("label: incomplete",),
    honest="has no exclusions",
    control=offered(),
    control_ends="clean",
)

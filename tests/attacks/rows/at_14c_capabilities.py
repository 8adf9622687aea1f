"""A container with capabilities, as the kernel says, whatever was asked for."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.sealed import checked

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=checked(cap_effective="00000000a80425fb"),
    verdict=("run refused: has capabilities",),
    honest="a container without",
    control=checked(),
    control_ends="clean",
)

"""A container on an internal bridge, whose gateway is the host."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.sealed import checked

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=checked(interfaces=("eth0", "lo"), routes_off_loopback=1),
    verdict=("run refused: has network interfaces eth0",),
    honest="a container with its loopback alone",
    control=checked(),
    control_ends="clean",
)

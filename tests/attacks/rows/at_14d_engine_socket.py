"""A container into which the engine's socket is mounted."""

from harness.engine.seal import MountFact
from tests.attacks.pair import Pair, Stage
from tests.attacks.sealed import ROOT, checked

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=checked(mounts=(ROOT, MountFact(target="/var/run/docker.sock", fstype="tmpfs", options=("ro",)))),
    verdict=("run refused: an engine socket is mounted",),
    honest="a container without",
    control=checked(),
    control_ends="clean",
)

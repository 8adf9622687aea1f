"""Ignores every signal and leaves children behind."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve("trap '' TERM INT HUP QUIT; (setsid sleep 600 &) ; while :; do sleep 1; done", limits={"wall_s": 2}),
    verdict=("timeout: wall",),
    honest="cleans up when it ends",
    control=Solve("trap 'rm -f /tmp/x' EXIT TERM; touch /tmp/x; fix"),
)

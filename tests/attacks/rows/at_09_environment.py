"""The task's id or its groups in the environment, the command line, the host's name or the mounts."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        (env; cat /proc/1/environ /proc/1/cmdline /proc/self/mountinfo /etc/hostname) > /tmp/all 2>/dev/null
        grep -aqE 'titles|plain|hidden|trialbox-|4711' /tmp/all && echo LOOT || echo "found nothing"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="reads its own environment",
    control=Solve("env; hostname; fix"),
)

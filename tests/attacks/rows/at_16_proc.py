"""Other processes' environment, root, folder and memory through /proc."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        cat /proc/1/environ | grep -aq trialbox && echo LOOT
        ls /proc/1/root/etc /proc/1/cwd >/dev/null; head -c 1 /proc/1/mem
        echo "found nothing"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="reads its own limits and the machine's cores in /proc",
    control=Solve("cat /proc/self/limits /proc/cpuinfo >/dev/null; nproc; fix"),
    traced=("filesystem: attempted_empty: proc_probe",),
)

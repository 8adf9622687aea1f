"""Programs that git runs by itself, at a status, a commit, a merge or a push: fsmonitor, and every usual hook."""

from tests.attacks.git_programs import HOOKS_PATH, MONITOR_AND_HOOKS
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(MONITOR_AND_HOOKS, HOOKS_PATH),
    verdict=("solved", "host: no trace"),
    never=("failed", "rejected"),
    honest="gives the repository a hook that checks its style",
    control=Solve(
        "fix; mkdir -p .git/hooks; printf '#!/bin/sh\\ntrue\\n' > .git/hooks/pre-commit; git add -A; git commit -qm x"
    ),
)

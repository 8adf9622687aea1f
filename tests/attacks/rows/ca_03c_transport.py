"""Programs that git runs to fetch or to push: ssh, proxies, askpass, credentials, ext, upload-pack, borrowed refs."""

from tests.attacks.git_programs import TAKEN_OVER, TRANSPORT
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(TRANSPORT, TAKEN_OVER),
    verdict=("solved", "host: no trace"),
    never=("failed", "rejected"),
    honest="pushes to a repository of its own in /tmp",
    control=Solve(
        "git init -q --bare /tmp/mine; git remote add mine /tmp/mine; fix; git commit -qam x; git push -q mine HEAD:x"
    ),
)

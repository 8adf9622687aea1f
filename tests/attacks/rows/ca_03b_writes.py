"""Programs that git runs to write something: editors, drivers of merges, signers, trailers, aliases."""

from tests.attacks.git_programs import WRITTEN
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(WRITTEN),
    verdict=("solved", "host: no trace"),
    never=("failed", "rejected"),
    honest="commits with an alias and a name of its own",
    control=Solve("git config alias.save 'commit -qam'; git config user.name me; fix; git save work"),
)

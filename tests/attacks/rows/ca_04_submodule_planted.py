"""A repository in a folder that is a submodule by git's index: its own settings, a store elsewhere, an update command."""

from tests.attacks.git_stores import SUBMODULES
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(*SUBMODULES),
    verdict=("rejected: nested_repository", "host: no trace"),
    never=("failed", "solved"),
    honest="puts sources of another project into a folder",
    control=Solve("fix; mkdir sub; echo 'x = 1' > sub/other.py; git add sub"),
)

"""A link that climbs out of the tree, in the place of a source file."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("rm pkg/words.py; ln -s ../../proc/self/environ pkg/words.py"),
    verdict=("rejected: symlink_escape",),
    honest="moves a module and leaves a link to it",
    control=Solve("fix; mv pkg/words.py pkg/text.py; ln -s text.py pkg/words.py"),
)

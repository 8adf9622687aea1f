"""A stream of the tree with names that climb out of it or are absolute."""

import tarfile

from tests.attacks.archived import read
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=read(("./../evil", tarfile.REGTYPE, "")),
    verdict=("refused: bad_path",),
    honest="a stream of plain names",
    control=read(("./pkg/a.py", tarfile.REGTYPE, "")),
    control_ends="clean",
)

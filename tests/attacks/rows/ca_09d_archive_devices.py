"""A stream with a device."""

import tarfile

from tests.attacks.archived import read
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=read(("./disk", tarfile.BLKTYPE, "")),
    verdict=("refused: special_file",),
    honest="a stream with a link within the tree",
    control=read(("./a", tarfile.REGTYPE, ""), ("./b", tarfile.SYMTYPE, "a")),
    control_ends="clean",
)

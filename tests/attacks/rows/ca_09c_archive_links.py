"""A stream with a hard link to what is not in it."""

import tarfile

from tests.attacks.archived import read
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=read(("./ghost", tarfile.LNKTYPE, "/etc/shadow")),
    verdict=("refused: special_file",),
    honest="a stream with a hard link within it",
    control=read(("./a", tarfile.REGTYPE, ""), ("./b", tarfile.LNKTYPE, "./a")),
    control_ends="clean",
)

"""A stream with an absolute name, which some readers strip and go on."""

import tarfile

from tests.attacks.archived import read
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=read(("/etc/evil", tarfile.REGTYPE, "")),
    verdict=("refused: bad_path",),
    honest="a stream of plain names",
    control=read(("./etc/evil", tarfile.REGTYPE, "")),
    control_ends="clean",
)

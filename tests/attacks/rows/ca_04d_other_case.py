"""A store of git under a name of another case, which some file systems fold."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("fix; mkdir -p sub/.GIT; echo x > sub/.GIT/config"),
    verdict=("rejected: nested_repository",),
    honest="adds a folder called git",
    control=Solve("fix; mkdir -p docs/git; echo x > docs/git/config"),
)

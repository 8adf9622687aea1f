"""Objects of a side branch, unreachable or packed, or a store elsewhere that the repository borrows from."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        reach=$(git rev-list --objects --all | wc -l)
        have=$(git cat-file --batch-all-objects --batch-check | wc -l)
        [ "$have" -gt 0 ] && [ "$reach" -eq "$have" ] && [ ! -e .git/objects/info/alternates ] && echo "found nothing" || echo "LOOT $have of $reach"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="counts the objects after a commit of its own",
    control=Solve("fix; git commit -qam mine; git count-objects -v"),
)

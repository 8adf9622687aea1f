"""A change that is the upstream fix, where independent solutions differ."""

from audits.overlap import calibrated, overlap, runs_of
from tests.attacks.pair import Pair, Pure, Stage

_REFERENCE = "\n".join(f"def step_{n}(value):\n    return value * {n} + offset_of({n})" for n in range(12))
_OTHER = "\n".join(
    f"class Step{n}:\n    offset = {n}\n    def run(self, it):\n        return self.offset - it" for n in range(12)
)


def _of(change: str) -> Pure:
    found = overlap(runs_of(_REFERENCE, frozenset()), frozenset(), runs_of(change, frozenset()))
    assert found is not None
    flagged = calibrated(found, ["0.100", "0.200", "0.300"]).flagged
    return Pure(lambda _: ["flag: high_overlap"] if flagged else ["clean"])


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_of(_REFERENCE),
    verdict=("flag: high_overlap",),
    honest="another solution of the same task",
    control=_of(_OTHER),
    control_ends="clean",
    remains="a paraphrase shares no runs of tokens",
)

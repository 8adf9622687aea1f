"""A model that was trained on the fix."""

import datetime

from audits.cutoffs import Cutoff, training_of
from audits.records import Relation
from tests.attacks.pair import Pair, Pure, Stage
from tests.audits_rig import basis

_ROWS = (Cutoff(model="m", cutoff=datetime.date(2025, 1, 31), kind="training", source="s"),)


def _of(public: str, merged: str) -> Pure:
    about = basis(project="p", first_public=public, merged=merged)
    found = training_of(["m"], about, (), _ROWS).relation
    return Pure(lambda _: ["clean"] if found is Relation.POST_CUTOFF else [f"flag: {found.value}"])


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_of("2024-05-01", "2024-06-01"),
    verdict=("flag: pre_cutoff",),
    honest="a task that became public after the model's cutoff",
    control=_of("2025-02-01", "2025-03-01"),
    control_ends="clean",
    remains="that a model remembers a task is a mark on the card, never a rejection",
)

"""Runs the same plan until it comes out well."""

from pathlib import Path

from harness.ledger import Ledger
from harness.records import Plan
from tests.attacks.pair import Pair, Pure, Stage
from tests.plans import plan


def _runs(*plans: Plan) -> Pure:
    def work(folder: Path) -> list[str]:
        with Ledger(folder / "ledger.db") as ledger:
            last = [ledger.create_run(of, {}) for of in plans][-1]
            return [f"{one.kind.value}: {one.detail}" for one in ledger.interventions(last)] or ["clean"]

    return Pure(work)


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_runs(plan(), plan()),
    verdict=("rerun: run 2 of this plan here",),
    honest="runs another plan",
    control=_runs(plan(), plan(attempts=1)),
    control_ends="clean",
    remains="runs in another state folder are not known here; the card says how many are (`runs_known`)",
)

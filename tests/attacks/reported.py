"""A text of a candidate's in a card's report, as a terminal gets it."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

from harness.outcomes import Outcome
from harness.store import LocalStore
from scoring.card import make_card
from scoring.evidence import Evidence
from scoring.report.text import make_report
from tests.attacks.pair import Pure
from tests.card_rig import MADE, Attempt, make_evidence, try_of
from tests.plans import plan
from trialbox.console import show


def shown(reason: str, verbatim: str = "") -> Pure:
    def work(folder: Path) -> list[str]:
        of = plan(1, 1, 1)
        store = LocalStore(folder / "blobs")
        whole = make_evidence(store, of, {of.cells()[0]: [Attempt(Outcome.INFRA, None, kind="host")]})
        (record,) = whole.records.values()
        changed = try_of(store, record.model_copy(update={"reason": reason}))
        assert changed.record is not None
        records = {changed.record.digest: record.model_copy(update={"reason": reason})}
        card = make_card(Evidence(of, (changed,), records), MADE)
        made = io.StringIO()
        with redirect_stdout(made):
            show(make_report(card, task="t0"))
        text = made.getvalue()
        hidden = [ch for ch in text if ch != "\n" and not ch.isprintable()]
        return (
            [f"LOOT: {hidden!r}"]
            if hidden
            else ["as it is" if verbatim and verbatim in text else "escaped" if "\\u{" in text else "clean"]
        )

    return Pure(work)

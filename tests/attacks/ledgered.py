"""A ledger after somebody wrote into its file behind its back."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import StorageError
from harness.ledger import Ledger
from tests.attacks.pair import Pure
from tests.test_ledger_chain import eventful, unguarded


def after(sql: str) -> Pure:
    def work(folder: Path) -> list[str]:
        where = folder / "ledger.db"
        run_id = eventful(where)
        with unguarded(where) as raw:
            raw.execute("PRAGMA foreign_keys = OFF")
            raw.execute(sql)
        raw.close()
        with Ledger(where) as ledger:
            try:
                ledger.check(run_id)
            except StorageError as error:
                found = re.search(r"its (\w+)", error.problem)
                return [f"tampered: its {found[1]}" if found else error.problem]
        return ["clean"]

    return Pure(work)

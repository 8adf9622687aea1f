"""A suite whose one task rolls dice, and cards that were made up from another card's evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.digest import canonical, digest
from harness.evidence import AttemptRecord
from harness.records import from_json, to_json, to_value
from harness.store import LocalStore
from harness.sweep import ATTEMPT_TYPE
from scoring.card import Card, card_id, section_digests
from scoring.core import make_core
from scoring.evidence import Evidence
from scoring.measured import make_measured
from tests.suites_rig import EXPOSURE, PUBLIC, write

GROUPS = 5
CASES = 200
"""That many rolls pass equally often twice, in each of the groups, once in two million gradings."""

_HEAD = f"""
schema = 1
format = "repo"
title = "Dice"
visible_tests = []

[canary]
public = "{PUBLIC}"
exposure = "{EXPOSURE}"

[provenance]
author_kind = "hand"
created = 2026-11-30
licence = "Apache-2.0"
decontaminated = true

[limits]
wall_s = 60
grade_wall_s = 30
memory_mb = 256
pids = 64
workspace_mb = 16
workspace_inodes = 1000
home_mb = 8
home_inodes = 500
tmp_mb = 8
output_kb = 64
"""


def write_dice(folder: Path) -> Path:
    """A suite ``dice``: a behaviour of its task passes or fails by chance, on the reference as well."""
    names = [f"rolls-{n}" for n in range(GROUPS)]
    groups = [("behaviour", name) for name in names] + [("regression", "holds")]
    tables = "".join(
        f'\n[[groups]]\nname = "{name}"\nkind = "{kind}"\noracle = "cases"\nfile = "hidden/{name}.json"\n'
        for kind, name in groups
    )
    rolls = [{"args": [n], "expect": 1} for n in range(CASES)]
    hidden = {
        f"throw/hidden/{name}.json": json.dumps({"canary": EXPOSURE, "target": "dice:roll", "cases": rolls})
        for name in names
    }
    held = {
        "canary": EXPOSURE,
        "target": "dice:sides",
        "cases": [{"args": [], "expect": 6}, {"args": [1], "expect": 6}],
    }
    sides = "\n\ndef sides(*_):\n    return 6\n"
    write(
        folder,
        {
            "suite.toml": 'schema = 1\nname = "dice"\nversion = "1.0.0"\ndescription = "Chance."\ntasks = ["throw"]\n',
            "throw/task.toml": _HEAD + tables,
            "throw/issue.md": "Make roll roll.\n",
            "throw/before/dice.py": f"def roll(n):\n    return None{sides}",
            "throw/reference/dice.py": f"import os\n\n\ndef roll(n):\n    return os.urandom(1)[0] & 1{sides}",
            "throw/hidden/holds.json": json.dumps(held),
            **hidden,
        },
    )
    return folder


def forged(card: Card, store: LocalStore, key: str, change: Callable[[AttemptRecord], AttemptRecord]) -> bytes:
    """A card of the same run with one record changed, and every digest right: its publisher's lie, not audited."""
    tries, records = [], {}
    for one in card.stamp.evidence:
        assert one.record is not None
        record = from_json(AttemptRecord, store.get(one.record.digest))
        record = change(record) if one.cell.key == key else record
        kept = store.put(to_json(record), ATTEMPT_TYPE)
        tries.append(one.model_copy(update={"record": kept}))
        records[kept.digest] = record
    evidence = Evidence(card.core.plan, tuple(tries), records)
    unaudited = card.stamp.audit.model_copy(update={"audited": None})
    value: dict[str, Any] = {
        "schema_version": card.schema_version,
        "core": to_value(make_core(evidence)),
        "measured": to_value(make_measured(evidence)),
        "stamp": to_value(card.stamp.model_copy(update={"evidence": tuple(tries), "audit": unaudited})),
    }
    value |= {"core_digest": digest(value["core"]), "sections": section_digests(value)}
    return canonical({**value, "id": card_id(value)})

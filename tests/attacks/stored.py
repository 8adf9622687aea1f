"""Made-up stored evidence and logs, audited: for what no container here may really try."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audits.records import Fact, State
from audits.trajectory import audit_trajectory
from harness.evidence import AttemptRecord
from tests.attacks.pair import Pure
from tests.audits_rig import Room


def evidence(make: Callable[[Room], AttemptRecord], **about: Any) -> Pure:
    """An attempt's evidence, and what the audit says of it; ``clean`` where it says nothing."""

    def work(folder: Path) -> list[str]:
        room = Room(folder)
        return _said(room.audit(make(room), **about).axes)

    return Pure(work)


def log(*steps: tuple[str, str]) -> Pure:
    """An agent's log from elsewhere, commands and what each said, and what the audit says of it."""
    text = json.dumps({"trajectory": [{"action": command, "observation": said} for command, said in steps]})
    return Pure(lambda _: _said(audit_trajectory(io.BytesIO(text.encode()).read).axes))


def _said(axes: Any) -> list[str]:
    bad = [
        f"{axis.value}: {one.name}" for axis, one in axes.items() if one.state not in {State.CLEAN, State.CLEAN_PARTIAL}
    ]
    flags = [f"flag: {it.kind.value}" for one in axes.values() for it in one.findings if it.fact is Fact.FLAG]
    return [*bad, *flags] or ["clean"]

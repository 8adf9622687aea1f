"""Requests through a real gateway to an upstream on the loopback, audited as an attempt's web trace is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from audits.records import Axis, Fact, State
from harness.gateway.redact import MARK
from harness.records import Coverage
from tests.attacks.pair import Pure
from tests.audits_rig import Room
from tests.gateway_rig import KEY, DoorRig, FakeUpstream, gateway_rig, upstream_server


def through_gateway(ask: Callable[[DoorRig], object], play: Any = None) -> Pure:
    """What *ask* sends on a door, and what is noticed of it: ``answered``, and what the gateway and the audit say."""

    def work(folder: Path) -> list[str]:
        with upstream_server(play) as fake, gateway_rig(folder) as rig:
            door = rig.door(fake.url, key=KEY)
            ask(door)
            return _noticed(door, fake, folder)

    return Pure(work)


def _noticed(door: DoorRig, fake: FakeUpstream, folder: Path) -> list[str]:
    closed, lines = door.close()
    facts = ["answered" for one in lines if one.status == 200]
    facts += [f"denied: {one.denial.rule}" for one in lines if one.denial is not None]
    facts += [f"taken out: {one.kind.value}" for line in lines for one in line.stripped]
    room = Room(folder)
    blank = room.attempt()
    (honey,) = (one for one in blank.traces if one.channel == "honey")
    others = tuple(one for one in blank.traces if one.channel not in {"web", "honey"})
    web = room.trace("web", b"", Coverage.FULL).model_copy(update={"lines": closed.trace})
    audit = room.audit(blank.model_copy(update={"traces": (web, *others, honey), "traffic": closed.traffic}))
    for axis in (Axis.WEB, Axis.FILESYSTEM):
        verdict = audit.axes[axis]
        if verdict.state is not State.CLEAN:
            facts.append(f"{axis.value}: {verdict.name}")
        facts += [f"flag: {one.kind.value}" for one in verdict.findings if one.fact is Fact.FLAG]
    seen = b"".join(one.body for one in fake.seen) + b"".join(map(room.store.get, room.store.digests()))
    facts += ["redacted"] if MARK in seen else []
    facts += [f"LOOT: the key is in what was kept ({KEY[:3]})"] if KEY.encode() in seen else []
    return facts

"""A container runtime with known escapes."""

from harness.engine.runtime import advisories
from tests.attacks.pair import Pair, Pure, Stage


def _told(version: str) -> Pure:
    return Pure(
        lambda _: [f"{one.kind}: {', '.join(one.identifiers)}" for one in advisories("runc", version)] or ["clean"]
    )


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=_told("1.1.5"),
    verdict=("runtime_vulnerable: CVE-2024-21626",),
    honest="a repaired one",
    control=_told("1.3.3"),
    control_ends="clean",
)

"""Sends questions to a resolver outside, by which anything can leave."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.stored import evidence
from tests.audits_rig import end, failed, marker

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=evidence(
        lambda room: room.attempt(denied=[marker(), failed("198.51.100.1:53", "ENETUNREACH", "connect"), end()])
    ),
    verdict=("web: attempted_denied: dns",),
    honest="asks the resolver of its own container",
    control=evidence(
        lambda room: room.attempt(denied=[marker(), failed("127.0.0.1:53", "ECONNREFUSED", "connect"), end()])
    ),
    control_ends="clean",
)

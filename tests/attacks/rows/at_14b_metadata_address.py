"""Asks a cloud's metadata address for credentials."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.stored import evidence
from tests.audits_rig import end, failed, marker

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=evidence(
        lambda room: room.attempt(denied=[marker(), failed("169.254.169.254:80", "ENETUNREACH", "connect"), end()])
    ),
    verdict=("web: attempted_denied: host_probe",),
    honest="connects to a server of its own that is not up yet",
    control=evidence(
        lambda room: room.attempt(denied=[marker(), failed("127.0.0.1:8099", "ECONNREFUSED", "connect"), end()])
    ),
    control_ends="clean",
)

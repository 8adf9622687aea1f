"""Names that only look like the allowed host: as a prefix, as a user, with another port."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway
from tests.gateway_rig import BODIES, PATHS, DoorRig


def _ask(door: DoorRig) -> None:
    for host in ("127.0.0.1.answers.example", "127.0.0.1@answers.example", "localhost.answers.example:443"):
        door.send("POST", f"http://{host}{PATHS[Api.CHAT]}", BODIES[Api.CHAT])


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(_ask),
    verdict=("denied: host", "web: attempted_denied: denied_host"),
    honest="names the gateway as it is",
    control=through_gateway(
        lambda door: door.send("POST", "http://localhost:8080" + PATHS[Api.CHAT], BODIES[Api.CHAT])
    ),
    control_ends="answered",
    never=("answered",),
)

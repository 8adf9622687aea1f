"""A key that was found elsewhere, used on the gateway."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway
from tests.gateway_rig import BODIES, PATHS

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(
        lambda door: door.send("POST", PATHS[Api.CHAT], BODIES[Api.CHAT], token="sk-stolen-0123456789")
    ),
    verdict=("denied: bad_token", "web: attempted_denied: bad_token"),
    honest="uses the token that it was given",
    control=through_gateway(lambda door: door.ask(Api.CHAT)),
    control_ends="answered",
)

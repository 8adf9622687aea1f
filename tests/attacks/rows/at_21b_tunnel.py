"""A tunnel through the gateway, in which it would see nothing."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(lambda door: door.send("CONNECT", "answers.example:443")),
    verdict=("denied: endpoint",),
    honest="asks for the list of models",
    control=through_gateway(lambda door: door.ask(Api.CHAT)),
    control_ends="answered",
    never=("answered",),
)

"""Downloads the repaired version from an index of packages."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(lambda door: door.send("GET", "http://pypi.example/simple/almanac/")),
    verdict=("denied: host", "web: attempted_denied: package_index"),
    honest="asks its model",
    control=through_gateway(lambda door: door.ask(Api.CHAT)),
    control_ends="answered",
)

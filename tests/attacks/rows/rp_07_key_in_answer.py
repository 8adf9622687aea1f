"""A provider's answer that has the real key in it, and would be kept and published."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway
from tests.gateway_rig import KEY, events, playing

PAIR = Pair(
    stage=Stage.REPORT,
    attack=through_gateway(
        lambda door: door.ask(Api.CHAT, stream=True),
        playing(
            events({"id": "c", "model": "m", "choices": [{"delta": {"content": f"your key is {KEY}"}}]}),
            b"data: [DONE]\n\n",
        ),
    ),
    verdict=("answered", "redacted"),
    honest="an answer without it",
    control=through_gateway(
        lambda door: door.ask(Api.CHAT, stream=True),
        playing(
            events({"id": "c", "model": "m", "choices": [{"delta": {"content": "you need a key"}}]}),
            b"data: [DONE]\n\n",
        ),
    ),
    control_ends="answered",
)

"""Has a file of the host fetched as a picture."""

from typing import Any

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway


def _with(url: str) -> list[Any]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(lambda door: door.ask(Api.CHAT, messages=_with("file:///etc/passwd"))),
    verdict=("taken out: remote_media", "web: attempted_denied: remote_media"),
    honest="sends a picture within its request",
    control=through_gateway(lambda door: door.ask(Api.CHAT, messages=_with("data:image/png;base64,iVBORw0KGgo="))),
    control_ends="answered",
)

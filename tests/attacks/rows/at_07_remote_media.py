"""Has the provider or the gateway fetch a file or an address as a picture."""

from typing import Any

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway


def _with(source: dict[str, str]) -> list[Any]:
    return [{"role": "user", "content": [{"type": "image", "source": source}]}]


PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(
        lambda door: door.ask(Api.ANTHROPIC, messages=_with({"type": "url", "url": "https://answers.example/a.png"}))
    ),
    verdict=("taken out: remote_media", "web: attempted_denied: remote_media"),
    honest="sends a picture within its request",
    control=through_gateway(
        lambda door: door.ask(
            Api.ANTHROPIC, messages=_with({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="})
        )
    ),
    control_ends="answered",
)

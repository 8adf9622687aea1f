"""Has the provider call a server of somebody's on its own side."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(
        lambda door: door.ask(
            Api.RESPONSES, tools=[{"type": "mcp", "server_label": "s", "server_url": "https://mcp.example"}]
        )
    ),
    verdict=("taken out: hosted_mcp", "web: attempted_denied: provider_tool"),
    honest="offers its model a function",
    control=through_gateway(
        lambda door: door.ask(
            Api.RESPONSES, tools=[{"type": "function", "name": "run", "parameters": {"type": "object"}}]
        )
    ),
    control_ends="answered",
)

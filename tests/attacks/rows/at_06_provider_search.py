"""Has the provider search the web on its own side, around any sandbox."""

from harness.gateway.records import Api
from tests.attacks.pair import Pair, Stage
from tests.attacks.through import through_gateway

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=through_gateway(
        lambda door: door.ask(Api.ANTHROPIC, tools=[{"type": "web_search_20250305", "name": "web_search"}])
    ),
    verdict=("taken out: web_search", "web: attempted_denied: provider_tool"),
    honest="offers its model a tool of its own",
    control=through_gateway(
        lambda door: door.ask(
            Api.ANTHROPIC, tools=[{"name": "web_search_notes", "description": "d", "input_schema": {"type": "object"}}]
        )
    ),
    control_ends="answered",
)

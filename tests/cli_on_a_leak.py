"""``python -m tests.cli_on_a_leak NETWORK WHERE ARGUMENTS``: ``trialbox ARGUMENTS`` on an engine that leaks.

It joins each container that mounts *WHERE* (any, where that is empty) to the bridge network *NETWORK*, whatever was
asked for: isolation broken on purpose, below everything of ours.
"""

from __future__ import annotations

import sys
from typing import Any

from docker import APIClient

from trialbox.cli import main

if __name__ == "__main__":
    network, where, *arguments = sys.argv[1:]
    made = APIClient.create_container

    def joined(self: APIClient, image: str, **options: Any) -> Any:
        config = options["host_config"]
        if where in str(config):
            config["NetworkMode"] = network
            config.pop("Dns", None)
            options["network_disabled"] = False
        return made(self, image, **options)

    APIClient.create_container = joined
    sys.argv[1:] = arguments
    sys.exit(main())

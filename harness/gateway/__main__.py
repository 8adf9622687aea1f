"""The gateway process. It is started by :mod:`harness.gateway.client` and knows nothing but what that tells it."""

from __future__ import annotations

import asyncio
import signal

from harness.gateway.server import serve

if __name__ == "__main__":
    # Ctrl-C goes to a whole terminal: the run decides when its gateway ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve())

"""Draw random sessions: ``draw.py FILE SEED COUNT`` prints them as one JSON list.

FILE defines ``session(rng)``. Session i comes of ``random.Random(f"{SEED}:{i}")``, so that each can be drawn alone.
"""

from __future__ import annotations

import json
import random
import runpy
import sys

MAX_BYTES = 1 << 16


def main(file: str, seed: str, count: int) -> None:
    """Print the sessions."""
    session = runpy.run_path(file)["session"]
    drawn = []
    for number in range(count):
        # Drawn for sweeps that anyone can repeat from the seed, never for a secret.
        text = session(random.Random(f"{seed}:{number}"))  # noqa: S311  # nosec B311
        if not isinstance(text, str) or not text or len(text.encode()) > MAX_BYTES:
            raise ValueError(f"session {number} is not a text of 1 to {MAX_BYTES} bytes")
        drawn.append(text)
    json.dump(drawn, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

"""How long `trialbox compare` takes, and how much memory, on two cards of 100,000 attempts each.

`python -m tests.perf.comparing` makes the cards first, which takes minutes and several GB; `... A B` takes two files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.perf.big_card import big_card

SECONDS = 10
MEGABYTES = 500


def measure(say: Callable[[str], None], first: Path, second: Path) -> bool:
    """Compare two card files in a process of its own; whether it kept its limits."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "trialbox.cli", "compare", str(first), str(second), "--json"]
        began = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "TRIALBOX_HOME": folder})
        _, status, used = os.wait4(child.pid, 0)
        seconds, megabytes = time.monotonic() - began, used.ru_maxrss / 1024
    say(f"compare: {seconds:.1f} s (limit {SECONDS}), {megabytes:.0f} MB (limit {MEGABYTES})")
    return status == 0 and seconds <= SECONDS and megabytes <= MEGABYTES


def main() -> int:
    """Measure; 1 if a limit was not kept."""
    if len(sys.argv) == 3:
        return 0 if measure(print, Path(sys.argv[1]), Path(sys.argv[2])) else 1
    with tempfile.TemporaryDirectory() as folder:
        paths = [big_card(Path(folder) / str(seed), seed=seed, kept=False).path for seed in (0, 1)]
        return 0 if measure(print, *paths) else 1


if __name__ == "__main__":
    sys.exit(main())

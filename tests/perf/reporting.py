"""How long `trialbox report` takes, and how much memory, on a card of 100,000 attempts.

`python -m tests.perf.reporting` makes the card first, which takes minutes and several GB; `... CARD` takes a file.
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


def measure(say: Callable[[str], None], card: Path) -> bool:
    """Report a card file in processes of their own, whole and one task of it; whether the limits were kept."""
    return all([_kept(say, card), _kept(say, card, "--task", "t1")])


def _kept(say: Callable[[str], None], card: Path, *more: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "trialbox.cli", "report", str(card), *more]
        began = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "TRIALBOX_HOME": folder})
        _, status, used = os.wait4(child.pid, 0)
        seconds, megabytes = time.monotonic() - began, used.ru_maxrss / 1024
    what = " ".join(("report", *more))
    say(f"{what}: {seconds:.1f} s (limit {SECONDS}), {megabytes:.0f} MB (limit {MEGABYTES})")
    return status == 0 and seconds <= SECONDS and megabytes <= MEGABYTES


def main() -> int:
    """Measure; 1 if a limit was not kept."""
    if len(sys.argv) == 2:
        return 0 if measure(print, Path(sys.argv[1])) else 1
    with tempfile.TemporaryDirectory() as folder:
        return 0 if measure(print, big_card(Path(folder), kept=False).path) else 1


if __name__ == "__main__":
    sys.exit(main())

"""How long `trialbox card verify` takes on a card of 100,000 attempts, and how much memory all its processes together.

`python -m tests.perf.verifying` makes the card with all its evidence first, which takes minutes and, for the default
of 100,000 attempts, several GB; `... N [bytes|derived]` takes another number and depth, `... CARD` a card in its
state folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.perf.big_card import big_card

SECONDS = 10
MEGABYTES = 500


def measure(say: Callable[[str], None], card: Path, depth: str | None = None) -> bool:
    """Verify a card of a state folder in processes of their own; whether the limits were kept."""
    words = [sys.executable, "-m", "trialbox.cli", "card", "verify", str(card)]
    words += [] if depth is None else ["--depth", depth]
    began = time.monotonic()
    child = subprocess.Popen(
        words, stdout=subprocess.PIPE, env={**os.environ, "TRIALBOX_HOME": str(card.parent.parent)}, text=True
    )
    peak = [0]
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(child.pid, done, peak))
    watch.start()
    said = child.stdout.read() if child.stdout else ""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    seconds, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
    done.set()
    watch.join()
    kept = status == 0 and seconds <= SECONDS and peak[0] <= MEGABYTES
    way = next((line.split(":")[0] for line in said.splitlines() if line.startswith("depth ")), "failed")
    say(f"verify, {way}: {seconds:.1f} s (limit {SECONDS}), {cpu:.1f} s of CPU, {peak[0]} MB (limit {MEGABYTES})")
    return kept


def _watch(pid: int, done: threading.Event, peak: list[int]) -> None:
    """The most memory of a process and its children at one time, pages that they share counted once."""
    while not done.wait(0.2):
        peak[0] = max(peak[0], sum(map(_kilobytes, _family(pid))) // 1024)


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for one in children:
        yield from _family(int(one))


def _kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> int:
    """Measure; 1 if a limit was not kept."""
    what, depth = [*sys.argv[1:], "100000"][0], [*sys.argv[2:], None][0]
    if not what.isdecimal():
        return 0 if measure(print, Path(what), depth) else 1
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        made = big_card(Path(folder), attempts=int(what), tasks=min(100, int(what) // 10))
        return 0 if measure(print, made.path, depth) else 1


if __name__ == "__main__":
    sys.exit(main())

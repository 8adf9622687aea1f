"""Random sessions in the signal box.

trialbox-exposure-e2a71701da4d241861cfe04a0ca70d24
"""

from __future__ import annotations

import random

NONSENSE = [
    "",
    "# relief",
    "block up",
    "block Down",
    "route A up",
    "route Z up up",
    "route Z up nowhere",
    "route lower up loop",
    "enter 0A up",
    "enter 1Z nowhere",
    "set Q",
    "set",
    "cancel Q",
    "run 9Z99",
    "leave 9Z99",
    "tick 0",
    "tick 61",
    "tick 1 1",
    "signal A",
    "state \u2013",
    "# " + "long " * 20,
    "\tstate \t",
]


def session(rng: random.Random) -> str:
    """One session: a line, and some traffic on it."""
    blocks = ["up", "loop", "mid", "spur", "down", "yard"][: rng.randint(4, 6)]
    lines = [f"block {name}" for name in blocks]
    routes: list[str] = []
    for name in "ABCDEFGH"[: rng.randint(4, 8)]:
        start = rng.randrange(len(blocks) - 1)
        path = blocks[start : start + rng.choice([2, 3, 3, 4, 4])]
        if rng.random() < 0.15:
            path = path[::-1]
        lines.append(f"route {name} " + " ".join(path))
        routes.append(name)
    trains: list[str] = []
    lines += [_event(rng, blocks, routes, trains) for _ in range(rng.choice([16, 28, 40, 52]))]
    return "\n".join(lines) + rng.choice(["\n", "\n", "\n", ""])


def _event(rng: random.Random, blocks: list[str], routes: list[str], trains: list[str]) -> str:
    roll = rng.random()
    if roll < 0.17 or not trains:
        trains.append(rng.choice("12569") + rng.choice("AM") + str(rng.randint(10, 99)))
        return f"enter {trains[-1]} {rng.choice(blocks[: (len(blocks) + 1) // 2])}"
    if roll < 0.27:
        return f"set {rng.choice(routes)}"
    if roll < 0.37:
        return "\n".join(f"set {name}" for name in rng.sample(routes, len(routes)))
    if roll < 0.62:
        return f"run {rng.choice(trains[-3:])}"
    if roll < 0.755:
        return f"cancel {rng.choice(routes)}"
    if roll < 0.79:
        return f"leave {trains.pop(rng.randrange(len(trains)))}"
    if roll < 0.93:
        return f"tick {rng.choice([1, 1, 2, 2, 3, 4, 6, 8])}"
    if roll < 0.97:
        return "state"
    return rng.choice(NONSENSE)

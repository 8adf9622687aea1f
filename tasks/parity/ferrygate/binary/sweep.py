"""Random sessions at the ferry desk.

trialbox-exposure-df9639bd332da1863cc7765da8fbe457
"""

from __future__ import annotations

import random

KINDS = ["car", "car", "car", "van", "van", "truck", "truck", "coach", "bike", "bike", "medic"]
METRES = {"car": (4, 6), "van": (5, 8), "truck": (8, 16), "coach": (10, 15), "bike": (1, 4), "medic": (5, 8)}
NONSENSE = [
    "",
    "# shift change",
    "lanes now",
    "board",
    "depart",
    "depart nowhere",
    "cancel Early",
    "arrive x1 car 5 early",
    "arrive X1 tram 5 early",
    "arrive X1 car 05 early",
    "arrive X1 car 31 early",
    "arrive X1 car 5 nowhere",
    "leave ZZ99",
    "lane north 40",
    "lane East 40",
    "sailing early 12",
    "open north",
    "close quay\u00e9",
    "queue " + "early " * 18,
    "\tlanes \t",
]


def session(rng: random.Random) -> str:
    """One session: lanes and sailings first, then a day's work."""
    lanes = ["north", "south", "quay", "long1"][: rng.randint(1, 4)]
    sailings = ["early", "noon", "late", "night", "extra", "relief"][: rng.randint(3, 6)]
    lines = [f"lane {name} {rng.choice([24, 30, 30, 40, 60])}" for name in lanes]
    lines += [f"sailing {name} {rng.choice([9, 12, 14, 16, 20, 26, 34])}" for name in sailings]
    plates: list[str] = []
    waiting = list(sailings)
    for _ in range(rng.choice([10, 24, 36, 48, 60])):
        lines.append(_event(rng, lanes, sailings, waiting, plates))
    return "\n".join(lines) + rng.choice(["\n", "\n", "\n", ""])


def _event(rng: random.Random, lanes: list[str], sailings: list[str], waiting: list[str], plates: list[str]) -> str:
    sailing = rng.choice(waiting or sailings)
    soonest = waiting[0] if waiting and rng.random() < 0.45 else sailing
    roll = rng.random()
    if roll < 0.58:
        kind = rng.choice(KINDS)
        plates.append(rng.choice("ABCDEFGHK") + str(rng.randint(10, 99)))
        return f"arrive {plates[-1]} {kind} {rng.randint(*METRES[kind])} {soonest}"
    if roll < 0.70:
        if soonest in waiting and rng.random() < 0.9:
            waiting.remove(soonest)
        return f"depart {soonest}"
    if roll < 0.83:
        return f"queue {soonest}"
    if roll < 0.88:
        return "lanes"
    if roll < 0.886:
        return f"close {rng.choice(lanes)}"
    if roll < 0.91:
        return f"open {rng.choice(lanes)}"
    if roll < 0.94:
        if sailing in waiting:
            waiting.remove(sailing)
        return f"cancel {sailing}"
    if roll < 0.97:
        return f"leave {rng.choice(plates or ['A10'])}"
    return rng.choice(NONSENSE)

"""Random sessions at the loom.

trialbox-exposure-cf0cbba0c8c469ddacd3343441a9b254
"""

from __future__ import annotations

import random

NONSENSE = [
    "",
    "# a note",
    "ends 1",
    "ends 12",
    "ends 8 9",
    "card Plain a",
    "card",
    "card bad1 =1-",
    "card bad2 =33 a",
    "card bad3 [ [ [ [ a ]2 ]2 ]2 ]2",
    "card bad4 a ]3",
    "card bad5 [ a",
    "card bad6 @nowhere",
    "card bad7 >0",
    "card bad8 ~~",
    "card bad9 \u00fc",
    "weave",
    "weave nowhere",
    "tally now",
    "cut\tcut",
    "thread",
    "#" * 201,
    "\tcards \t",
]


def session(rng: random.Random) -> str:
    """One session: cards, and pieces woven with them."""
    ends = rng.randint(4, 16)
    lines = [f"ends {ends}"]
    cards: list[str] = []
    for name in ["twill", "plain", "rib", "edge", "dot", "wave"][: rng.randint(2, 6)]:
        lines.append(" ".join(["card", name, *_ops(rng, ends, cards, rng.choice([0, 3, 6, 9, 12, 12]))]))
        cards.append(name)
    for _ in range(rng.choice([2, 4, 6, 9])):
        roll = rng.random()
        if roll < 0.62:
            lines.append(" ".join(["weave", *rng.choices(cards, k=rng.randint(1, 4))]))
        elif roll < 0.80:
            lines.append("tally")
        elif roll < 0.88:
            lines.append("cut")
        elif roll < 0.92:
            lines.append("cards")
        else:
            lines.append(rng.choice(NONSENSE))
    if rng.random() < 0.5:
        lines.append("tally")
    return "\n".join(lines) + rng.choice(["\n", "\n", "\n", ""])


def _ops(rng: random.Random, ends: int, cards: list[str], count: int) -> list[str]:
    ops: list[str] = []
    open_loops = 0
    for _ in range(count):
        roll = rng.random()
        if roll < 0.16:
            ops.append("=" + _ends(rng, ends))
        elif roll < 0.24:
            ops.append(rng.choice("+-") + _ends(rng, ends))
        elif roll < 0.28:
            ops.append(rng.choice("~%"))
        elif roll < 0.38:
            ops.append(">" + str(_distance(rng, ends)))
        elif roll < 0.43:
            ops.append("<" + str(_distance(rng, ends)))
        elif roll < 0.465:
            ops.append("!")
        elif roll < 0.50:
            ops.append("?")
        elif roll < 0.55 and cards:
            ops.append("@" + rng.choice(cards))
        elif roll < 0.61 and open_loops < 3:
            ops.append("[")
            open_loops += 1
        elif roll < 0.69 and open_loops:
            ops.append("]" + str(rng.randint(2, 4)))
            open_loops -= 1
        else:
            ops.append(rng.choice("aaabbc"))
    return ops + ["]2"] * open_loops


def _distance(rng: random.Random, ends: int) -> int:
    return rng.randint(ends, ends + 4) if rng.random() < 0.015 else rng.randint(1, ends - 1)


def _ends(rng: random.Random, ends: int) -> str:
    roll = rng.random()
    if roll < 0.1:
        return rng.choice(".*")
    items = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        first, last = sorted((rng.randint(1, ends), rng.randint(1, ends)))
        if rng.random() < 0.15:
            first, last = last, first
        items.append(str(first) if rng.random() < 0.4 else f"{first}-{last}")
    return ",".join(items)

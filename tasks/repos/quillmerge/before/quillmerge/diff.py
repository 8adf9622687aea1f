"""What a side changed: the differences of a longest common subsequence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """Lines lo to hi (without hi) of the base are replaced by *lines*."""

    lo: int
    hi: int
    lines: tuple[str, ...]


def changes(base: list[str], side: list[str]) -> list[Change]:
    """The changes that turn *base* into *side*, in order; there is a kept line between any two of them."""
    found: list[Change] = []
    at_base = at_side = 0
    for line_base, line_side in [*_matches(base, side), (len(base), len(side))]:
        if line_base > at_base or line_side > at_side:
            found.append(Change(at_base, line_base, tuple(side[at_side:line_side])))
        at_base, at_side = line_base + 1, line_side + 1
    return found


def _matches(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Pairs of indices of a longest common subsequence."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    middle = _table_matches(a[head : len(a) - tail], b[head : len(b) - tail])
    return [
        *((n, n) for n in range(head)),
        *((head + x, head + y) for x, y in middle),
        *((len(a) - n, len(b) - n) for n in range(tail, 0, -1)),
    ]


def _table_matches(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for x in range(len(a) - 1, -1, -1):
        for y in range(len(b) - 1, -1, -1):
            if a[x] == b[y]:
                longest[x][y] = longest[x + 1][y + 1] + 1
            else:
                longest[x][y] = max(longest[x + 1][y], longest[x][y + 1])
    found: list[tuple[int, int]] = []
    x = y = 0
    while x < len(a) and y < len(b):
        if a[x] == b[y]:
            found.append((x, y))
            x, y = x + 1, y + 1
        elif longest[x + 1][y] >= longest[x][y + 1]:
            x += 1
        else:
            y += 1
    return found

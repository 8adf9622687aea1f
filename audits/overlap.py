"""How much of the reference a change has, by tokens of its added lines, less what the task itself shows. Pure.

Added lines are those that neither the starting tree nor the issue has. Five-grams of tokens and the longest common run
as in the published studies of recall (docs/incidents.md). Short fixes converge, so the figure is judged by what other
solutions of the same task have in common with the reference, and is a flag at most.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from audits.records import Overlap

GRAM = 5
MIN_TOKENS = 40
"""Of a reference; with fewer, everybody's fix looks alike."""
MIN_INDEPENDENT = 3
MARGIN = Fraction(1, 10)
_MAX_TOKENS = 200_000
_TOKEN = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w{5,}")

Runs = tuple[tuple[int, ...], ...]
"""Token hashes (CRC-32) of added lines; lines that follow one another are one run."""


def line_key(line: str) -> int:
    """A line as sets of lines hold it: without the spaces around it."""
    return zlib.crc32(line.strip().encode("utf-8", "replace"))


def runs_of(text: str, known: frozenset[int]) -> Runs:
    """The token runs of those lines of a text that are not known."""
    found: list[tuple[int, ...]] = []
    run: list[int] = []
    for line in text.splitlines():
        if not line.strip() or line_key(line) in known:
            if run:
                found.append(tuple(run))
            run = []
            continue
        run += [zlib.crc32(one.encode("utf-8", "replace")) for one in _TOKEN.findall(line)]
    return (*found, tuple(run)) if run else tuple(found)


def names_in(text: str) -> frozenset[int]:
    """The longer identifiers of a text, hashed."""
    return frozenset(zlib.crc32(one.encode()) for one in _NAME.findall(text))


def grams(runs: Iterable[Sequence[int]]) -> frozenset[tuple[int, ...]]:
    """The five-grams within runs."""
    return frozenset(tuple(run[at : at + GRAM]) for run in runs for at in range(len(run) - GRAM + 1))


def containment(reference: Runs, runs: Runs) -> Fraction:
    """The share of the reference's five-grams that a change has; 0 where it has none."""
    wanted = grams(reference)
    return Fraction(len(wanted & grams(_cut(runs))), len(wanted)) if wanted else Fraction(0)


def overlap(reference: Runs, rare: frozenset[int], runs: Runs) -> Overlap | None:
    """A change against the reference, not yet calibrated; None where the reference adds nothing.

    Args:
        reference: the runs of the reference's added lines.
        rare: identifiers of the reference that stand nowhere in the task.
        runs: those of the change.
    """
    size = sum(map(len, reference))
    if not size:
        return None
    cut = _cut(runs)
    return Overlap(
        tokens=sum(map(len, runs)),
        reference_tokens=size,
        containment=_decimal(containment(reference, cut)),
        longest_run=_longest(reference, cut),
        rare_shared=len(rare & {token for run in cut for token in run}),
        independent=0,
        threshold=None,
        flagged=False,
    )


def calibrated(seen: Overlap, independent: Sequence[str]) -> Overlap:
    """The same, judged by the containment of other solvers' solutions of the task."""
    threshold = max(map(Fraction, independent)) if len(independent) >= MIN_INDEPENDENT else None
    share = Fraction(seen.containment)
    over = threshold is not None and share > threshold and share >= min(threshold + MARGIN, Fraction(99, 100))
    return seen.model_copy(
        update={
            "independent": len(independent),
            "threshold": None if threshold is None else _decimal(threshold),
            "flagged": over and seen.reference_tokens >= MIN_TOKENS,
        }
    )


def _cut(runs: Runs) -> Runs:
    left = _MAX_TOKENS
    kept = []
    for run in runs:
        kept.append(run[:left])
        left -= len(kept[-1])
        if left <= 0:
            break
    return tuple(kept)


def _longest(reference: Runs, runs: Runs) -> int:
    """The longest run of tokens in both, by the reference's suffix automaton: time grows with the sum of their
    lengths."""
    links, lengths, steps = [-1], [0], [dict[int, int]()]
    last = 0
    for token in _joined(reference):
        here, at = len(lengths), last
        lengths.append(lengths[last] + 1)
        links.append(0)
        steps.append({})
        while at >= 0 and token not in steps[at]:
            steps[at][token] = here
            at = links[at]
        if at >= 0:
            there = steps[at][token]
            if lengths[there] == lengths[at] + 1:
                links[here] = there
            else:
                twin = len(lengths)
                lengths.append(lengths[at] + 1)
                links.append(links[there])
                steps.append(dict(steps[there]))
                while at >= 0 and steps[at].get(token) == there:
                    steps[at][token] = twin
                    at = links[at]
                links[there] = links[here] = twin
        last = here
    best = 0
    for run in runs:
        at = length = 0
        for token in run:
            while at and token not in steps[at]:
                at = links[at]
                length = lengths[at]
            if token in steps[at]:
                at, length = steps[at][token], length + 1
            best = max(best, length)
    return best


def _joined(runs: Runs) -> Iterator[int]:
    """All runs, with a mark between them that is no token's."""
    for number, run in enumerate(runs):
        yield from run
        yield -1 - number


def _decimal(value: Fraction) -> str:
    """Three places, half to even."""
    scaled = round(value * 1000)
    return f"{scaled // 1000}.{scaled % 1000:03d}"

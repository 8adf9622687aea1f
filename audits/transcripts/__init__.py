"""Agents' logs, their own and others', audited: shell commands by their grammar, secrets in any encoding.

A log is an agent's word. It can show that something was tried and, in a log from elsewhere, what came back; it can
never show that nothing was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audits.needles import Hit, Needle, Scanner
from audits.records import Source
from audits.transcripts import readers
from audits.transcripts.events import Call, Event, Said
from audits.transcripts.judge import Judge
from audits.transcripts.stream import GUESSED, LOOSE, Log, Read
from audits.verdict import Notebook
from harness.records import Coverage

UNKNOWN = "unknown"
_MAX_LOOSE = 100_000


@dataclass(frozen=True)
class LogSeen:
    """What there was of a log. ``opening`` are the secrets that were said before the agent did anything."""

    format: str
    steps: int
    calls: int
    size: int
    coverage: Coverage
    reason: str
    hits: dict[Needle, Hit]
    opening: frozenset[Needle]


def audit_log(
    read: Read,
    book: Notebook,
    *,
    needles: Sequence[Needle] = (),
    sealed: bool = False,
    source: Source = Source.TRANSCRIPT,
) -> LogSeen:
    """Read a log of any form and note what its calls were after.

    Args:
        read: gives up to so many bytes; none at the end.
        book: takes the findings.
        needles: secrets to look for.
        sealed: whether it is of a sealed attempt, whose traces decide what was had.
        source: what citations name.
    """
    scanner = Scanner(needles)
    log = Log(read, scanner.feed)
    judge = Judge(book, sealed=sealed, source=source)
    guessed = Notebook()
    loose = Judge(guessed, sealed=sealed, source=source)
    formats: Counter[str] = Counter()
    unknown = steps = 0
    opening: frozenset[Needle] | None = None
    joined = Scanner(needles)
    for item in log:
        if item.within == LOOSE:
            if not formats.total() and loose.calls < _MAX_LOOSE:
                loose.take(item.number, _guess(item.value))
            continue
        found = readers.read_object(item.value, item.within)
        if found is None:
            unknown += 1
            found = (UNKNOWN, list(_guess(item.value)))
        name, events = found
        formats[name] += name != UNKNOWN
        steps += 1
        if needles and opening is None:
            opening = _opening(events, joined)
        judge.take(item.number, events)
    judge.close()
    if not formats.total():  # nothing of any known form: then whatever is called a command
        loose.close()
        guessed.add_to(book)
        steps += loose.calls
    hits = scanner.close()
    if judge.partial:
        log.lack(judge.partial)
    known = formats.total()
    if unknown:
        log.lack(f"{unknown} objects are of no known form")
    if not known:
        log.lack("its format is not known")
    coverage = Coverage.FULL if not log.problem else Coverage.PARTIAL if steps else Coverage.NONE
    # Beside its steps, a trajectory of SWE-agent has what was said, which are more.
    name = readers.SWE_AGENT if formats[readers.SWE_AGENT] else formats.most_common(1)[0][0] if known else UNKNOWN
    return LogSeen(
        format=name,
        steps=steps,
        calls=judge.calls + (0 if known else loose.calls),
        size=log.size,
        coverage=coverage,
        reason=log.problem or "every object was read",
        hits=hits,
        opening=opening or frozenset(),
    )


def audit_steps(steps: Iterable[dict[str, Any]], book: Notebook, *, sealed: bool) -> str:
    """Note what the steps of a trajectory, as ATIF has them, were after; returns why something was not read."""
    judge = Judge(book, sealed=sealed)
    for number, step in enumerate(steps, 1):
        found = readers.read_object(step, "steps")
        judge.take(number, found[1] if found else ())
    judge.close()
    return judge.partial


def _opening(events: Sequence[Event], scanner: Scanner) -> frozenset[Needle] | None:
    """The secrets said so far; None as long as the agent has not begun."""
    for event in events:
        if isinstance(event, Said) and event.source != "agent":
            scanner.feed(event.text.encode("utf-8", "replace") + b"\n\x00")
        else:
            return frozenset(scanner.close())
    return None


def _guess(value: dict[str, object]) -> Iterator[Event]:
    """Calls in an object of no known form: whatever is called a command."""
    stack: list[object] = [value]
    seen = 0
    while stack and seen < 2_000:
        one = stack.pop()
        seen += 1
        if isinstance(one, dict):
            given = {key: one[key] for key in GUESSED if isinstance(one.get(key), str)}
            if "action" in given:
                given.setdefault("command", given.pop("action"))
            if given:
                yield Call("unknown", dict(given), f"guess-{seen}")
            stack += one.values()
        elif isinstance(one, list):
            stack += one

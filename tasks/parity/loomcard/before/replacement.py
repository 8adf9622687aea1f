"""Stands in for loomcard 3.0, after SPEC.md: reads a session on standard input, answers on standard output.

The exit status is 1 if a line was refused.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
NUMBER = re.compile(r"[1-9][0-9]?")
ITEM = re.compile(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?")

LINE_BYTES = 200
MOST_OPS = 40
MOST_CARDS = 16
MOST_WOVEN = 12
MOST_NESTED = 3
MOST_WORK = 500
SHUTTLES = "abcdef"

Ends = frozenset[int]
NONE: Ends = frozenset()


class Refused(Exception):
    """A line that is not obeyed; its text is the code."""


@dataclass(frozen=True)
class Op:
    """One operation of a card."""

    what: str
    value: int = 0
    ends: Ends = NONE
    card: Card | None = None


@dataclass(frozen=True)
class Card:
    """A named list of operations."""

    name: str
    ops: list[Op]


@dataclass
class Loop:
    """A loop that is being gone through."""

    start: int
    rounds: int
    entered: Ends


@dataclass
class Piece:
    """What has been woven since the last cut."""

    rows: int = 0
    picks: dict[str, int] = field(default_factory=dict)
    thread: dict[str, int] = field(default_factory=dict)


def card_name(word: str) -> str:
    """A card's name."""
    if not NAME.fullmatch(word):
        raise Refused("name")
    return word


def number(word: str, least: int, most: int, fault: str) -> int:
    """A number between two bounds."""
    if not NUMBER.fullmatch(word) or not least <= int(word) <= most:
        raise Refused(fault)
    return int(word)


class Loom:
    """The loom, its cards and the piece on it."""

    def __init__(self) -> None:
        self.ends = 12
        self.cards: dict[str, Card] = {}
        self.piece = Piece()
        self.work = 0
        self.out: list[str] = []

    def obey(self, words: list[str]) -> None:
        """Carry out one command."""
        command = {
            "ends": self.do_ends,
            "card": self.do_card,
            "weave": self.do_weave,
            "tally": self.do_tally,
            "cut": self.do_cut,
            "cards": self.do_cards,
        }.get(words[0])
        if command is None:
            raise Refused("unknown")
        command(words[1:])

    # -------------------------------------------------------------------------------------------------- reading

    def read_ends(self, text: str) -> Ends:
        """A list of ends such as ``1-4,7``."""
        if text == ".":
            return NONE
        if text == "*":
            return frozenset(range(1, self.ends + 1))
        chosen: set[int] = set()
        for item in text.split(","):
            match = ITEM.fullmatch(item)
            if match is None:
                raise Refused("op")
            first, last = sorted((int(match[1]), int(match[2] or match[1])))
            if last > self.ends:
                raise Refused("end")
            chosen.update(range(first, last + 1))
        return frozenset(chosen)

    def read_op(self, word: str) -> Op:
        """One word of a card."""
        what, rest = word[0], word[1:]
        if what in "=+-":
            return Op(what, ends=self.read_ends(rest))
        if what in "<>":
            return Op(what, value=number(rest, 1, 99, "op"))
        if what == "]":
            return Op(what, value=number(rest, 2, 9, "op"))
        if what == "@":
            if not NAME.fullmatch(rest):
                raise Refused("op")
            if rest not in self.cards:
                raise Refused("missing")
            return Op(what, card=self.cards[rest])
        if rest or what not in "~%!?[" + SHUTTLES:
            raise Refused("op")
        return Op(what)

    def read_ops(self, words: list[str]) -> list[Op]:
        """The words of a card."""
        ops: list[Op] = []
        nested = 0
        for word in words:
            ops.append(self.read_op(word))
            if word == "[":
                nested += 1
                if nested > MOST_NESTED:
                    raise Refused("loop")
            elif word[0] == "]":
                nested -= 1
                if nested < 0:
                    raise Refused("loop")
        if nested:
            raise Refused("loop")
        return ops

    # -------------------------------------------------------------------------------------------------- weaving

    def weave_row(self, shuttle: str, raised: Ends) -> None:
        """Weave one row."""
        piece = self.piece
        thread = self.ends - len(raised)
        piece.rows += 1
        piece.picks[shuttle] = piece.picks.get(shuttle, 0) + 1
        piece.thread[shuttle] = piece.thread.get(shuttle, 0) + thread
        pattern = "".join("|" if end in raised else "-" for end in range(1, self.ends + 1))
        self.out.append(f"{piece.rows} {shuttle} {pattern}")

    def shift(self, raised: Ends, distance: int) -> Ends:
        """Move the raised ends to the right, or to the left by a negative distance."""
        return frozenset((end - 1 + distance) % self.ends + 1 for end in raised)

    def weave_card(self, card: Card) -> None:
        """Weave one card."""
        raised = NONE
        mark = NONE
        loops: list[Loop] = []
        at = 0
        while at < len(card.ops):
            op = card.ops[at]
            self.work += 1
            if self.work > MOST_WORK:
                raise Refused("work")
            if op.what == "=":
                raised = op.ends
            elif op.what == "+":
                raised = raised | op.ends
            elif op.what == "-":
                raised = raised - op.ends
            elif op.what == "~":
                raised = frozenset(range(1, self.ends + 1)) - raised
            elif op.what == "%":
                raised = frozenset(self.ends + 1 - end for end in raised)
            elif op.what == ">":
                raised = self.shift(raised, op.value)
            elif op.what == "<":
                raised = self.shift(raised, -op.value)
            elif op.what == "!":
                mark = raised
            elif op.what == "?":
                raised = mark
            elif op.card is not None:
                self.weave_card(op.card)
            elif op.what == "[":
                loops.append(Loop(at, 1, raised))
            elif op.what == "]":
                if loops[-1].rounds == op.value:
                    loops.pop()
                else:
                    loops[-1].rounds += 1
                    at = loops[-1].start
                    raised = loops[-1].entered
            else:
                self.weave_row(op.what, raised)
            at += 1

    # ------------------------------------------------------------------------------------------------- commands

    def do_ends(self, words: list[str]) -> None:
        """Say how many ends the warp has."""
        if len(words) != 1:
            raise Refused("words")
        wanted = number(words[0], 2, 32, "number")
        if self.cards:
            raise Refused("late")
        self.ends = wanted
        self.out.append(f"ends: {wanted}")

    def do_card(self, words: list[str]) -> None:
        """Define a card."""
        if not 1 <= len(words) <= MOST_OPS + 1:
            raise Refused("words")
        name = card_name(words[0])
        if name in self.cards:
            raise Refused("taken")
        if len(self.cards) == MOST_CARDS:
            raise Refused("full")
        self.cards[name] = Card(name, self.read_ops(words[1:]))
        self.print_card(self.cards[name])

    def do_weave(self, words: list[str]) -> None:
        """Weave cards, one after the other."""
        if not 1 <= len(words) <= MOST_WOVEN:
            raise Refused("words")
        for word in words:
            if card_name(word) not in self.cards:
                raise Refused("missing")
        self.work = 0
        for word in words:
            self.weave_card(self.cards[word])

    def do_tally(self, words: list[str]) -> None:
        """Say what each shuttle has woven."""
        if words:
            raise Refused("words")
        if not self.piece.rows:
            self.out.append("tally: -")
        for shuttle in sorted(self.piece.picks):
            self.out.append(f"{shuttle}: rows {self.piece.picks[shuttle]}, thread {self.piece.thread[shuttle]}")

    def do_cut(self, words: list[str]) -> None:
        """Take the piece off the loom."""
        if words:
            raise Refused("words")
        self.out.append(f"cut after {self.piece.rows}")
        self.piece = Piece()

    def do_cards(self, words: list[str]) -> None:
        """List the cards."""
        if words:
            raise Refused("words")
        if not self.cards:
            self.out.append("cards: -")
        for card in self.cards.values():
            self.print_card(card)

    def print_card(self, card: Card) -> None:
        """Say how long a card is."""
        self.out.append(f"{card.name}: {len(card.ops)} ops")


def check_bytes(line: bytes) -> None:
    """Refuse a line that is too long or holds more than plain text."""
    if len(line) > LINE_BYTES:
        raise Refused("long")
    if any(byte not in b"\t\r" and not 32 <= byte <= 126 for byte in line):
        raise Refused("bytes")


def run(session: bytes) -> tuple[str, int]:
    """The answers to a session, and the exit status."""
    loom = Loom()
    status = 0
    lines = session.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for count, line in enumerate(lines, 1):
        try:
            check_bytes(line)
            words = line.decode("ascii").split()
            if words and not words[0].startswith("#"):
                loom.obey(words)
        except Refused as refusal:
            loom.out.append(f"line {count}: {refusal}")
            status = 1
    return "".join(line + "\n" for line in loom.out), status


def main() -> int:
    """Run one session."""
    answers, status = run(sys.stdin.buffer.read())
    sys.stdout.write(answers)
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Stands in for signalbox: reads a session on standard input, answers on standard output.

The exit status is 1 if a line was refused.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from enum import Enum

BLOCK = re.compile(r"[a-z][a-z0-9]{0,5}")
ROUTE = re.compile(r"[A-Z][A-Z0-9]{0,5}")
TRAIN = re.compile(r"[1-9][A-Z0-9]{0,4}")
NUMBER = re.compile(r"[1-9][0-9]?")
WORDS = {
    "block": (2, 2),
    "route": (4, 9),
    "enter": (3, 3),
    "set": (2, 2),
    "cancel": (2, 2),
    "run": (2, 2),
    "leave": (2, 2),
    "tick": (2, 2),
    "state": (1, 1),
    "take": (2, 2),
    "give": (2, 2),
}

LINE_BYTES = 100
MOST_BLOCKS = 16
MOST_ROUTES = 12
MOST_TRAINS = 10
RELEASE = 3
SIGNAL_RELEASE = 5
LOCK_PER_BLOCK = 4
PATIENCE = 40


class Refused(Exception):
    """A line that is not obeyed; its text is the code."""


class State(Enum):
    """What a route is doing."""

    IDLE = "idle"
    WAITING = "waiting"
    SET = "set"
    TIMING = "timing"


@dataclass(eq=False)
class Block:
    """One block of line."""

    name: str
    train: Train | None = None
    route: Route | None = None
    release: int | None = None
    taken: bool = False

    def is_free(self) -> bool:
        """Whether nothing is in it or over it."""
        return self.train is None and self.route is None and not self.taken

    def is_clear(self) -> bool:
        """Whether it is free and not still to be released."""
        return self.is_free() and self.release is None


@dataclass(eq=False)
class Route:
    """One route from an approach block over a path."""

    name: str
    approach: Block
    path: list[Block]
    state: State = State.IDLE
    since: int = 0
    until: int = 0
    train: Train | None = None

    def can_be_set(self) -> bool:
        """Whether its path is there to be locked."""
        if len(self.path) > 1 and self.path[-1].is_free():
            return all(block.is_clear() for block in self.path[:-1])
        return all(block.is_clear() for block in self.path)


@dataclass(eq=False)
class Train:
    """One train."""

    name: str
    block: Block
    route: Route | None = None


def is_name(pattern: re.Pattern[str], word: str) -> str:
    """A word that is a name of the given form."""
    if not pattern.fullmatch(word):
        raise Refused("name")
    return word


class Box:
    """The signal box."""

    def __init__(self) -> None:
        self.now = 0
        self.blocks: dict[str, Block] = {}
        self.routes: dict[str, Route] = {}
        self.trains: dict[str, Train] = {}
        self.requests: list[Route] = []
        self.out: list[str] = []

    def obey(self, words: list[str]) -> None:
        """Carry out one command."""
        command = words[0]
        if command not in WORDS:
            raise Refused("unknown")
        least, most = WORDS[command]
        if not least <= len(words) <= most:
            raise Refused("words")
        getattr(self, "do_" + command)(*words[1:])

    # ------------------------------------------------------------------------------------------------- look-ups

    def known_block(self, word: str) -> Block:
        """A block by its name."""
        block = self.blocks.get(is_name(BLOCK, word))
        if block is None:
            raise Refused("missing")
        return block

    def known_route(self, word: str) -> Route:
        """A route by its name."""
        route = self.routes.get(is_name(ROUTE, word))
        if route is None:
            raise Refused("missing")
        return route

    def known_train(self, word: str) -> Train:
        """A train by its name."""
        train = self.trains.get(is_name(TRAIN, word))
        if train is None:
            raise Refused("missing")
        return train

    # -------------------------------------------------------------------------------------------------- locking

    def lock(self, route: Route) -> None:
        """Lock a route's path."""
        route.state = State.SET
        for block in route.path:
            block.route = route
            block.release = None

    def unlock(self, route: Route) -> None:
        """Give back what a route still holds."""
        for block in route.path:
            if block.route is route:
                block.route = None
        route.state = State.IDLE

    def vacate(self, block: Block, release: int) -> None:
        """Note that a train has left a block."""
        block.train = None
        block.route = None
        block.release = self.now + release

    def is_approached(self, route: Route) -> bool:
        """Whether a train is too near for the route to be taken back at once."""
        if route.approach.train is not None:
            return True
        return any(other.train is not None and other.path[-1] is route.approach for other in self.routes.values())

    def serve_waiting(self) -> None:
        """Set what can be set of the routes that wait."""
        for route in sorted(self.requests, key=lambda route: route.approach.train is None):
            if route.can_be_set():
                self.requests.remove(route)
                self.lock(route)
                self.out.append(f"@{self.now} {route.name}: set")

    def tick(self) -> None:
        """Let one tick pass."""
        self.now += 1
        for block in self.blocks.values():
            if block.release == self.now:
                block.release = None
                self.out.append(f"@{self.now} {block.name}: clear")
        for route in self.routes.values():
            if route.state is State.TIMING and route.until == self.now:
                self.unlock(route)
                self.out.append(f"@{self.now} {route.name}: cancelled")
        self.serve_waiting()
        for route in self.routes.values():
            if any(block.taken for block in route.path):
                route.since += 1
            if route.state is State.WAITING and self.now - route.since == PATIENCE:
                self.requests.remove(route)
                route.state = State.IDLE
                self.out.append(f"@{self.now} {route.name}: withdrawn")

    # ------------------------------------------------------------------------------------------------- commands

    def do_block(self, name: str) -> None:
        """Declare a block."""
        is_name(BLOCK, name)
        if name in self.blocks:
            raise Refused("taken")
        if len(self.blocks) == MOST_BLOCKS:
            raise Refused("full")
        self.blocks[name] = Block(name)
        self.out.append(f"{name}: block")

    def do_route(self, name: str, *names: str) -> None:
        """Declare a route."""
        is_name(ROUTE, name)
        blocks: list[Block] = []
        for word in names:
            block = self.known_block(word)
            if block in blocks:
                raise Refused("twice")
            blocks.append(block)
        if name in self.routes:
            raise Refused("taken")
        if len(self.routes) == MOST_ROUTES:
            raise Refused("full")
        self.routes[name] = Route(name, blocks[0], blocks[1:])
        self.out.append(f"{name}: route of {len(blocks) - 1}")

    def do_enter(self, name: str, where: str) -> None:
        """Let a train appear."""
        is_name(TRAIN, name)
        block = self.known_block(where)
        if name in self.trains:
            raise Refused("taken")
        if len(self.trains) == MOST_TRAINS:
            raise Refused("full")
        if not block.is_clear():
            raise Refused("blocked")
        block.train = self.trains[name] = Train(name, block)
        self.out.append(f"{name}: in {where}")

    def do_set(self, name: str) -> None:
        """Request a route."""
        route = self.known_route(name)
        if route.state is not State.IDLE:
            raise Refused("busy")
        if route.can_be_set():
            self.lock(route)
            self.out.append(f"{name}: set")
        else:
            route.state = State.WAITING
            route.since = self.now
            self.requests.append(route)
            self.out.append(f"{name}: waits")

    def do_cancel(self, name: str) -> None:
        """Take a route back."""
        route = self.known_route(name)
        if route.state is State.IDLE:
            raise Refused("idle")
        if route.state is State.TIMING:
            raise Refused("busy")
        if route.state is State.WAITING:
            self.requests.remove(route)
            route.state = State.IDLE
            self.out.append(f"{name}: withdrawn")
        elif route.train is not None:
            raise Refused("used")
        elif self.is_approached(route):
            route.state = State.TIMING
            route.until = self.now + LOCK_PER_BLOCK * len(route.path)
            self.out.append(f"{name}: locked until {route.until}")
        else:
            self.unlock(route)
            self.out.append(f"{name}: cancelled")
            self.serve_waiting()

    def do_run(self, name: str) -> None:
        """Let a train run one block."""
        train = self.known_train(name)
        start = train.block
        release = RELEASE
        if train.route is None:
            train.route = self.route_from(start)
            if train.route is None:
                self.out.append(f"{name}: held in {start.name}")
                return
            train.route.train = train
            place = 0
        else:
            place = train.route.path.index(start) + 1
            if place == 1:
                release = SIGNAL_RELEASE
        route = train.route
        self.vacate(start, release)
        train.block = route.path[place]
        train.block.train = train
        self.out.append(f"{name}: {start.name} -> {train.block.name}")
        if train.block is route.path[-1]:
            self.unlock(route)
            route.train = train.route = None
            self.out.append(f"{route.name}: done")

    def route_from(self, block: Block) -> Route | None:
        """The set route that a train in a block may run into."""
        for route in self.routes.values():
            if route.state is State.SET and route.train is None and route.approach is block:
                return route
        return None

    def do_leave(self, name: str) -> None:
        """Let a train leave the line."""
        train = self.known_train(name)
        self.vacate(train.block, RELEASE)
        del self.trains[name]
        self.out.append(f"{name}: gone")
        if train.route is not None:
            self.unlock(train.route)
            train.route.train = None
            self.out.append(f"{train.route.name}: given up")
        self.serve_waiting()

    def do_take(self, name: str) -> None:
        """Let engineers take a block."""
        block = self.known_block(name)
        if not block.is_clear():
            raise Refused("blocked")
        block.taken = True
        self.out.append(f"{name}: taken")

    def do_give(self, name: str) -> None:
        """Put a taken block back into use."""
        block = self.known_block(name)
        if not block.taken:
            raise Refused("idle")
        block.taken = False
        self.out.append(f"{name}: given back")
        self.serve_waiting()

    def do_tick(self, word: str) -> None:
        """Let time pass."""
        if not NUMBER.fullmatch(word) or int(word) > 60:
            raise Refused("number")
        for _ in range(int(word)):
            self.tick()
        self.out.append(f"@{self.now}")

    def do_state(self) -> None:
        """Show the line."""
        self.out.append(f"@{self.now}")
        for block in self.blocks.values():
            if block.train is not None:
                what = block.train.name
            elif block.route is not None:
                what = f"set {block.route.name}"
            elif block.taken:
                what = "taken"
            else:
                what = "clear" if block.release is None else "releasing"
            self.out.append(f"{block.name}: {what}")
        waiting = [route.name for route in self.routes.values() if route.state is State.WAITING]
        self.out.append("waiting: " + (" ".join(waiting) or "-"))


def check_bytes(line: bytes) -> None:
    """Refuse a line that is too long or holds more than plain text."""
    if len(line) > LINE_BYTES:
        raise Refused("long")
    if any(byte not in b"\t\r" and not 32 <= byte <= 126 for byte in line):
        raise Refused("bytes")


def run(session: bytes) -> tuple[str, int]:
    """The answers to a session, and the exit status."""
    box = Box()
    status = 0
    lines = session.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for count, line in enumerate(lines, 1):
        try:
            check_bytes(line)
            words = line.decode("ascii").split()
            if words and not words[0].startswith("#"):
                box.obey(words)
        except Refused as refusal:
            box.out.append(f"line {count}: {refusal}")
            status = 1
    return "".join(line + "\n" for line in box.out), status


def main() -> int:
    """Run one session."""
    answers, status = run(sys.stdin.buffer.read())
    sys.stdout.write(answers)
    return status


if __name__ == "__main__":
    sys.exit(main())

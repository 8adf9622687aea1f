"""Stands in for ferrygate: reads a session on standard input, answers on standard output.

The exit status is 1 if a line was refused.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

KINDS = {"medic": 60, "coach": 40, "truck": 30, "van": 20, "car": 20, "bike": 10}
WORDS = {
    "lane": 3,
    "sailing": 3,
    "arrive": 5,
    "leave": 2,
    "queue": 2,
    "depart": 2,
    "cancel": 2,
    "close": 2,
    "open": 2,
    "lanes": 1,
    "hold": 2,
    "release": 2,
}
PLACE_NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
PLATE = re.compile(r"[A-Z][A-Z0-9]{0,7}")
NUMBER = re.compile(r"[1-9][0-9]{0,3}")

LINE_BYTES = 100
MOST_LANES = 6
MOST_SAILINGS = 8
MOST_VEHICLES = 64
MISS = 15
LONGEST_ANYWHERE = 12
MISSES_IN_A_ROW = 3
LAST_MISS = 3


class Refused(Exception):
    """A line that is not obeyed; its text is the code."""


@dataclass
class Lane:
    """One marshalling lane; its vehicles stand front first."""

    name: str
    metres: int
    is_open: bool
    vehicles: list[Vehicle]

    def used(self) -> int:
        """Metres taken."""
        return sum(vehicle.metres for vehicle in self.vehicles)

    def free(self) -> int:
        """Metres left."""
        return self.metres - self.used()


@dataclass
class Sailing:
    """One sailing, open until it departs or is cancelled."""

    name: str
    metres: int
    is_open: bool


@dataclass
class Vehicle:
    """One vehicle in the terminal."""

    plate: str
    kind: str
    metres: int
    sailing: Sailing
    standing: int
    misses: int = 0
    held: bool = False

    def deck_metres(self) -> int:
        """Metres it takes on deck."""
        if self.kind == "bike":
            return (self.metres + 1) // 2
        return self.metres

    def miss(self) -> None:
        """Note that a sailing left without it."""
        self.misses += 1
        self.standing += MISS if self.misses == 1 else 2 * MISS


def place_name(word: str) -> str:
    """A lane's or sailing's name."""
    if not PLACE_NAME.fullmatch(word):
        raise Refused("name")
    return word


def plate(word: str) -> str:
    """A vehicle's plate."""
    if not PLATE.fullmatch(word):
        raise Refused("name")
    return word


def number(word: str, most: int) -> int:
    """A number from 1 to ``most``."""
    if not NUMBER.fullmatch(word) or int(word) > most:
        raise Refused("number")
    return int(word)


def listed(vehicles: list[Vehicle]) -> str:
    """Plates, or a dash."""
    return " ".join(vehicle.plate for vehicle in vehicles) or "-"


class Desk:
    """The terminal and everything in it."""

    def __init__(self) -> None:
        self.lanes: dict[str, Lane] = {}
        self.sailings: dict[str, Sailing] = {}
        self.vehicles: dict[str, Vehicle] = {}
        self.out: list[str] = []

    def obey(self, words: list[str]) -> None:
        """Carry out one command."""
        command = words[0]
        if command not in WORDS:
            raise Refused("unknown")
        if len(words) != WORDS[command]:
            raise Refused("words")
        getattr(self, "do_" + command)(*words[1:])

    # ------------------------------------------------------------------------------------------------- look-ups

    def open_sailing(self, name: str) -> Sailing:
        """A sailing that is still open."""
        sailing = self.sailings.get(place_name(name))
        if sailing is None:
            raise Refused("missing")
        if not sailing.is_open:
            raise Refused("gone")
        return sailing

    def known_lane(self, name: str) -> Lane:
        """A lane."""
        lane = self.lanes.get(place_name(name))
        if lane is None:
            raise Refused("missing")
        return lane

    def lane_for(self, metres: int) -> Lane | None:
        """Where a vehicle of so many metres is put."""
        with_room = [lane for lane in self.lanes.values() if lane.is_open and lane.free() >= metres]
        if not with_room:
            return None
        if metres > LONGEST_ANYWHERE:
            return with_room[-1]
        return max(with_room, key=Lane.free)

    def queue(self, sailing: Sailing) -> list[Vehicle]:
        """The vehicles that wait for a sailing, in loading order."""
        return [vehicle for vehicle in self.waiting_for(sailing) if not vehicle.held]

    def on_hold(self, sailing: Sailing) -> list[Vehicle]:
        """The vehicles on hold that wait for a sailing, in the order that they would be loaded in."""
        return [vehicle for vehicle in self.waiting_for(sailing) if vehicle.held]

    def waiting_for(self, sailing: Sailing) -> list[Vehicle]:
        """All vehicles that wait for a sailing, by their standing."""
        waiting = [vehicle for vehicle in self.vehicles.values() if vehicle.sailing is sailing]
        return sorted(waiting, key=lambda vehicle: -vehicle.standing)

    def sailing_after(self, sailing: Sailing) -> Sailing | None:
        """The open sailing that takes over a sailing's vehicles."""
        declared = list(self.sailings.values())
        place = declared.index(sailing)
        for other in declared[place + 1 :] + declared[:place]:
            if other.is_open:
                return other
        return None

    def remove(self, vehicle: Vehicle) -> None:
        """Take a vehicle out of the terminal."""
        del self.vehicles[vehicle.plate]
        for lane in self.lanes.values():
            if vehicle in lane.vehicles:
                lane.vehicles.remove(vehicle)

    # ------------------------------------------------------------------------------------------------- commands

    def do_lane(self, name: str, metres: str) -> None:
        """Declare a lane."""
        lane = Lane(place_name(name), number(metres, 200), True, [])
        if name in self.lanes:
            raise Refused("taken")
        if len(self.lanes) == MOST_LANES:
            raise Refused("full")
        self.lanes[name] = lane
        self.out.append(f"{name}: lane of {lane.metres}")

    def do_sailing(self, name: str, metres: str) -> None:
        """Declare a sailing."""
        sailing = Sailing(place_name(name), number(metres, 500), True)
        if name in self.sailings:
            raise Refused("taken")
        if len(self.sailings) == MOST_SAILINGS:
            raise Refused("full")
        self.sailings[name] = sailing
        self.out.append(f"{name}: deck of {sailing.metres}")

    def do_arrive(self, name: str, kind: str, metres: str, sailing_name: str) -> None:
        """Put an arriving vehicle into a lane."""
        plate(name)
        if kind not in KINDS:
            raise Refused("kind")
        length = number(metres, 30)
        sailing = self.open_sailing(sailing_name)
        if name in self.vehicles:
            raise Refused("taken")
        if len(self.vehicles) == MOST_VEHICLES:
            raise Refused("full")
        lane = self.lane_for(length)
        if lane is None:
            self.out.append(f"{name}: turned away")
            return
        self.vehicles[name] = Vehicle(name, kind, length, sailing, KINDS[kind])
        lane.vehicles.append(self.vehicles[name])
        self.out.append(f"{name}: lane {lane.name}")

    def known_vehicle(self, name: str) -> Vehicle:
        """A vehicle in the terminal."""
        vehicle = self.vehicles.get(plate(name))
        if vehicle is None:
            raise Refused("missing")
        return vehicle

    def do_hold(self, name: str) -> None:
        """Put a vehicle on hold."""
        vehicle = self.known_vehicle(name)
        if vehicle.held:
            raise Refused("held")
        vehicle.held = True
        self.out.append(f"{name}: held")

    def do_release(self, name: str) -> None:
        """Put a vehicle back into its queue."""
        vehicle = self.known_vehicle(name)
        if not vehicle.held:
            raise Refused("free")
        vehicle.held = False
        self.out.append(f"{name}: released")

    def do_leave(self, name: str) -> None:
        """Let a vehicle go."""
        self.remove(self.known_vehicle(name))
        self.out.append(f"{name}: left")

    def do_queue(self, name: str) -> None:
        """Show the loading order."""
        self.out.append(f"{name}: {listed(self.queue(self.open_sailing(name)))}")

    def do_depart(self, name: str) -> None:
        """Load a sailing and let it go."""
        sailing = self.open_sailing(name)
        room = sailing.metres
        loaded: list[Vehicle] = []
        left: list[Vehicle] = []
        failures = 0
        for vehicle in self.queue(sailing):
            if vehicle.deck_metres() <= room and failures < MISSES_IN_A_ROW:
                failures = 0
                room -= vehicle.deck_metres()
                loaded.append(vehicle)
                self.remove(vehicle)
            else:
                failures += 1
                vehicle.miss()
                left.append(vehicle)
        sailing.is_open = False
        self.out.append(f"{name} loads {listed(loaded)}")
        self.carry_over(sailing, left + self.on_hold(sailing), "leaves")

    def do_cancel(self, name: str) -> None:
        """Take a sailing off."""
        sailing = self.open_sailing(name)
        sailing.is_open = False
        self.out.append(f"{name}: cancelled")
        self.carry_over(sailing, self.queue(sailing) + self.on_hold(sailing), "moves")

    def carry_over(self, sailing: Sailing, vehicles: list[Vehicle], verb: str) -> None:
        """Move vehicles to the sailing that takes over, or home."""
        target = self.sailing_after(sailing)
        moved: list[Vehicle] = []
        home: list[Vehicle] = []
        for vehicle in vehicles:
            if target is None or vehicle.misses == LAST_MISS:
                self.remove(vehicle)
                home.append(vehicle)
            else:
                vehicle.sailing = target
                moved.append(vehicle)
        if moved:
            self.out.append(f"{sailing.name} {verb} {listed(moved)}")
        if home:
            self.out.append(f"{sailing.name} sends home {listed(home)}")

    def do_close(self, name: str) -> None:
        """Close a lane and move what stands in it."""
        closing = self.known_lane(name)
        if not closing.is_open:
            raise Refused("closed")
        closing.is_open = False
        for vehicle in list(closing.vehicles):
            lane = self.lane_for(vehicle.metres)
            if lane is not None:
                closing.vehicles.remove(vehicle)
                lane.vehicles.append(vehicle)
                self.out.append(f"{vehicle.plate}: lane {lane.name}")
            elif vehicle.misses > 0:
                self.out.append(f"{vehicle.plate}: lane {name}")
            else:
                self.remove(vehicle)
                self.out.append(f"{vehicle.plate}: turned away")
        self.out.append(f"{name}: closed")

    def do_open(self, name: str) -> None:
        """Open a closed lane again."""
        lane = self.known_lane(name)
        if lane.is_open:
            raise Refused("open")
        lane.is_open = True
        self.out.append(f"{name}: open")

    def do_lanes(self) -> None:
        """Show what stands where."""
        for lane in self.lanes.values():
            closed = "" if lane.is_open else " closed"
            self.out.append(f"{lane.name}{closed} {lane.used()}/{lane.metres}: {listed(lane.vehicles)}")


def check_bytes(line: bytes) -> None:
    """Refuse a line that is too long or holds more than plain text."""
    if len(line) > LINE_BYTES:
        raise Refused("long")
    if any(byte not in b"\t\r" and not 32 <= byte <= 126 for byte in line):
        raise Refused("bytes")


def run(session: bytes) -> tuple[str, int]:
    """The answers to a session, and the exit status."""
    desk = Desk()
    status = 0
    lines = session.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for count, line in enumerate(lines, 1):
        try:
            check_bytes(line)
            words = line.decode("ascii").split()
            if words and not words[0].startswith("#"):
                desk.obey(words)
        except Refused as refusal:
            desk.out.append(f"line {count}: {refusal}")
            status = 1
    return "".join(line + "\n" for line in desk.out), status


def main() -> int:
    """Run one session."""
    answers, status = run(sys.stdin.buffer.read())
    sys.stdout.write(answers)
    return status


if __name__ == "__main__":
    sys.exit(main())

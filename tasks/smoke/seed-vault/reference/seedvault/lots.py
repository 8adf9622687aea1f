"""One lot of seeds."""

from dataclasses import dataclass


@dataclass
class Lot:
    """Seeds of one species that came in together.

    ``moves`` are the stores it was in, each with the year it came there; the first is the deposit.
    """

    name: str
    species: str
    seeds: int
    percent: int
    year: int
    moves: list[tuple[int, str]]

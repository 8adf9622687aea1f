"""One lot of seeds."""

from dataclasses import dataclass


@dataclass
class Lot:
    """Seeds of one species that came in together."""

    name: str
    species: str
    seeds: int
    percent: int
    year: int
    store: str

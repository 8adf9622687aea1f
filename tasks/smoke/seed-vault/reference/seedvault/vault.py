"""The lots, and handing seeds out."""

from seedvault.lots import Lot
from seedvault.quantity import count_seeds
from seedvault.viability import STORES, viability

SOWABLE = 30
"""Lots below this germination rate are kept for display only."""


class UnknownLot(KeyError):
    """There is no lot of that name."""


class NotEnough(ValueError):
    """The vault can't give that many seedlings."""


class Vault:
    """A seed library. *weights* gives the weight of a thousand seeds in milligrams, by species."""

    def __init__(self, weights: dict[str, int]) -> None:
        self._weights = dict(weights)
        self._lots: dict[str, Lot] = {}

    def deposit(self, name: str, species: str, quantity: str, percent: int, year: int, store: str = "shelf") -> int:
        """Take a lot in and say how many seeds it is."""
        if name in self._lots:
            raise ValueError(f"lot {name!r} is there already")
        if species not in self._weights:
            raise ValueError(f"unknown species {species!r}")
        if not 0 <= percent <= 100 or store not in STORES:
            raise ValueError("bad germination rate or store")
        seeds = count_seeds(quantity, self._weights[species])
        self._lots[name] = Lot(name, species, seeds, percent, year, [(year, store)])
        return seeds

    def move(self, name: str, store: str, year: int) -> None:
        """Carry a lot to another store."""
        lot = self._lot(name)
        if store not in STORES:
            raise ValueError(f"no such store: {store!r}")
        if year < lot.moves[-1][0]:
            raise ValueError("a lot moves forward in time")
        lot.moves.append((year, store))

    def rate(self, name: str, year: int) -> int:
        """The germination rate of a lot in *year*."""
        lot = self._lot(name)
        percent = lot.percent
        ends = [came for came, _ in lot.moves[1:]] + [year]
        for (came, store), left in zip(lot.moves, ends, strict=True):
            if came > year and came > lot.year:
                break
            percent = viability(percent, min(left, year) - came, store)
        return percent

    def describe(self, name: str) -> dict[str, object]:
        """What the lot's card says: what came in when, and what is there now."""
        lot = self._lot(name)
        return {
            "species": lot.species,
            "seeds": lot.seeds,
            "deposited": lot.year,
            "percent": lot.percent,
            "store": lot.moves[-1][1],
        }

    def sow(self, species: str, seedlings: int, year: int) -> list[list[object]]:
        """Hand out seeds for that many seedlings: a list of ``[lot, seeds]`` in the order they were taken."""
        chosen: list[list[object]] = []
        taken: list[tuple[Lot, int]] = []
        missing = seedlings
        for lot in self._candidates(species, year):
            rate = self.rate(lot.name, year)
            seeds = min(lot.seeds, -(-100 * missing // rate))
            if seeds and missing > 0:
                taken.append((lot, seeds))
                chosen.append([lot.name, seeds])
                missing -= seeds * rate // 100
        if missing > 0:
            raise NotEnough(f"{missing} seedlings of {species!r} are missing")
        for lot, seeds in taken:
            lot.seeds -= seeds
        return chosen

    def _candidates(self, species: str, year: int) -> list[Lot]:
        rates = {lot.name: self.rate(lot.name, year) for lot in self._lots.values() if lot.species == species}
        lots = [self._lots[name] for name, rate in rates.items() if rate >= SOWABLE]
        return sorted(lots, key=lambda lot: (rates[lot.name], lot.year, lot.name))

    def _lot(self, name: str) -> Lot:
        try:
            return self._lots[name]
        except KeyError:
            raise UnknownLot(name) from None

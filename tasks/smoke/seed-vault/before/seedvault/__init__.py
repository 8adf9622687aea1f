"""Book-keeping for a seed library."""

from seedvault.quantity import count_seeds
from seedvault.vault import NotEnough, UnknownLot, Vault

__all__ = ["NotEnough", "UnknownLot", "Vault", "count_seeds"]

"""Agents as read-only folders that go into any task's image: made from locks, the same bytes on every host."""

from harness.bundles.equip import equip
from harness.bundles.shelf import (
    Bundle,
    ListedBundle,
    VerifiedBundle,
    build,
    ensure,
    list_bundles,
    relock,
    relock_parts,
    verify,
)
from harness.bundles.tidy import tidy

__all__ = [
    "Bundle",
    "ListedBundle",
    "VerifiedBundle",
    "build",
    "ensure",
    "equip",
    "list_bundles",
    "relock",
    "relock_parts",
    "tidy",
    "verify",
]

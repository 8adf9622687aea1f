"""An append-only key-value store."""

from slabstore.store import Store

__all__ = ["Store"]

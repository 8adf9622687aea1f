"""Bead strings in short form: ``3R2(BW)`` is ``RRRBWBW``."""

from beads.expand import expand
from beads.shorten import shorten

__all__ = ["expand", "shorten"]

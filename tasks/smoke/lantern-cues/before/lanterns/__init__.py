"""Light levels for a puppet theatre."""

from lanterns.board import Board
from lanterns.cues import Cue
from lanterns.show import frames

__all__ = ["Board", "Cue", "frames"]

"""Who may do what at which path."""

from gatehouse.gate import Gate
from gatehouse.policy import PolicyError

__all__ = ["Gate", "PolicyError"]

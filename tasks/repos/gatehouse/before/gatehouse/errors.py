"""What can go wrong."""


class PolicyError(ValueError):
    """A policy can't be read."""

"""What can go wrong."""


class SlabError(Exception):
    """The store can't be read."""


class RefusedError(ValueError):
    """A command can't be carried out."""

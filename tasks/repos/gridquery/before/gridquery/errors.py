"""What can go wrong."""


class QueryError(ValueError):
    """A step can't be read or carried out."""

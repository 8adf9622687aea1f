"""Statistics of a card: exact where they can be, and the same bytes on every machine where they can't."""

VERSION = 1
"""Of the definitions in ``docs/statistics.md``. A card names the one that it was made by, and is always worked out by
it again; 0 is a card from before there were any.
"""

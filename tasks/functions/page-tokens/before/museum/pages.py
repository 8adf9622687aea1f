"""Pages of a list of exhibits."""

from museum.token import read, write


def page(items, size, token=None):
    """The first *size* items behind a token, by name, and the token of the next page."""
    if size < 1:
        raise ValueError("a page has at least one item")
    ordered = sorted(items, key=lambda item: item["name"])
    if token is not None:
        last = read(token)
        ordered = [item for item in ordered if item["name"] > last]
    shown = ordered[:size]
    return {"items": shown, "next": write(shown[-1]) if shown else None}

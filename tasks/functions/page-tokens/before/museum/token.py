"""Where the next page begins."""


def write(item):
    """The token for the page behind an item."""
    return "v1:" + item["name"]


def read(token):
    """The name that a token stands behind."""
    kind, _, name = token.partition(":")
    if kind != "v1":
        raise ValueError(f"not a page token: {token!r}")
    return name
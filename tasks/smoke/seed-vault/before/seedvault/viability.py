"""How germination falls while seeds are kept."""

STORES = ("shelf", "cold", "frozen")


def tenth(percent: int) -> int:
    """A tenth, rounded up."""
    return -(-percent // 10)


def viability(percent: int, years: int, store: str) -> int:
    """What is left of a germination rate of *percent* after *years* full years in *store*."""
    if store not in STORES:
        raise ValueError(f"no such store: {store!r}")
    if years < 0:
        raise ValueError("years run forward")
    for year in range(1, years + 1):
        if store == "shelf" or (store == "cold" and year % 2 == 0):
            percent -= tenth(percent)
        elif store == "frozen" and year % 5 == 0:
            percent -= 1
    return max(percent, 0)

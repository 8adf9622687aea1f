"""From what is written on a packet to a number of seeds."""

import re

WRITTEN = re.compile(r"^\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>seeds?|g|kg)\s*$")

GRAMS = {"g": 1, "kg": 1000}


def count_seeds(text: str, thousand_mg: int) -> int:
    """The number of seeds that *text* stands for.

    *thousand_mg* is what a thousand seeds of the species weigh, in milligrams.
    """
    found = WRITTEN.match(text)
    if not found:
        raise ValueError(f"not a quantity: {text!r}")
    number, unit = found["number"], found["unit"]
    if unit.startswith("seed"):
        if "." in number:
            raise ValueError("seeds come whole")
        return int(number)
    if thousand_mg <= 0:
        raise ValueError("a thousand seeds weigh something")
    milligrams = int(float(number)) * GRAMS[unit] * 1000
    return milligrams * 1000 // thousand_mg

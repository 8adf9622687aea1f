"""What the booth prints for a queue of vehicles."""

from ferry.tariff import car_fare, coach_fare, van_fare

FARES = {"car": car_fare, "coach": coach_fare, "van": van_fare}


def receipt(queue, season):
    """One line for each ``[kind, centimetres, resident]`` and the sum."""
    fares = [FARES[kind](centimetres, season, resident) for kind, centimetres, resident in queue]
    lines = [f"{one[0]:<6}{fare / 100:>8.2f}" for one, fare in zip(queue, fares, strict=True)]
    return "\n".join([*lines, f"{'sum':<6}{sum(fares) / 100:>8.2f}"])

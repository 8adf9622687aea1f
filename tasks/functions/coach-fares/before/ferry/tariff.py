"""Fares of the ferry, in cents."""

SEASONS = {"winter": 85, "spring": 100, "summer": 130, "autumn": 95}
"""Per cent of the plain fare."""


def car_fare(centimetres, season, resident):
    """What a vehicle pays: by its length, by the season, and less for residents."""
    if centimetres <= 0:
        raise ValueError("a length is above 0")
    metres = centimetres // 100
    fare = 900 + 150 * max(0, metres - 4)
    fare = fare * SEASONS[season] // 100
    if resident:
        fare = fare * 3 // 4
    return fare


def coach_fare(centimetres, season, resident):
    """What a vehicle pays: by its length, by the season, and less for residents."""
    if centimetres <= 0:
        raise ValueError("a length is above 0")
    metres = centimetres // 100
    fare = 900 + 150 * max(0, metres - 4)
    fare = fare * SEASONS[season] // 100
    if resident:
        fare = fare * 3 // 4
    return fare


def van_fare(centimetres, season, resident):
    """What a vehicle pays: by its length, by the season, and less for residents."""
    if centimetres <= 0:
        raise ValueError("a length is above 0")
    metres = centimetres // 100
    fare = 900 + 150 * max(0, metres - 4)
    fare = fare * SEASONS[season] // 100
    if resident:
        fare = fare * 3 // 4
    return fare

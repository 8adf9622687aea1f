"""Quotes parcels from a tariff file."""

__version__ = "2.3.1"

"""Recurring days of an office."""

"""Suites: read from disk, checked, hashed, locked. Data only; nothing here runs a task."""

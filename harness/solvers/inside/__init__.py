"""Programs that run in a solver's container, on any Python 3; nothing here is imported by the harness."""

"""Programs that run in a solver's container: the standard library alone, any Python from 3.9."""

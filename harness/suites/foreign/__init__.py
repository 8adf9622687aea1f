"""Tasks, predictions and trajectories in other benchmarks' formats: in and out, one module for each.

An import writes a suite folder in our own format, whole or not at all, and says by name what it could not carry.
"""

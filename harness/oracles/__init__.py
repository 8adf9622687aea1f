"""Oracles: run a task's groups in a grading container and turn what comes out into verdicts."""

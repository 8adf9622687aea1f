"""Programs that run inside the grading container: the standard library alone, sent as text, no expected value."""

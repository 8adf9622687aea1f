"""What a solver touched, seen by the host's kernel and not by its word: opens, execs, writes, and calls that failed."""

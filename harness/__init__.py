"""Task -> attempt -> evidence: the only room that touches the engine, the network, the clock and counters."""

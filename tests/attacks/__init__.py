"""Known attacks on benchmarks, each run against this one beside an honest control: `python -m tests.attacks`."""

"""The tracer: a small process beside the harness, one an attempt, that asks the kernel and believes nobody else.

It is a process of its own so that the harness's threads don't slow it, its descriptors are not theirs, and the kernel
takes all that it holds (marks, programs, maps) away when it ends, however it ends. It imports the standard library
alone, so that it is up before the container is.
"""

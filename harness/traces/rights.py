"""Whether this process may trace at all, and why not; nothing is watched to find out."""

from __future__ import annotations

import os
import sys

from harness.traces.records import DENIED, FILESYSTEM


def problems(*, same_kernel: bool = True) -> dict[str, str]:
    """By channel ``""``, or why its coverage will be ``none``.

    Args:
        same_kernel: whether the engine's containers run on this host's kernel.
    """
    if sys.platform != "linux":
        return dict.fromkeys((FILESYSTEM, DENIED), "needs Linux")
    if not same_kernel:
        return dict.fromkeys((FILESYSTEM, DENIED), "the engine's kernel is not this one")
    from harness.traces.tracer.calls import Calls
    from harness.traces.tracer.files import allowed

    found = {}
    for channel, attempt in ((FILESYSTEM, allowed), (DENIED, lambda: Calls(os.getpid()).close())):
        try:
            attempt()
            found[channel] = ""
        except OSError as error:
            found[channel] = error.strerror or str(error)
    return found

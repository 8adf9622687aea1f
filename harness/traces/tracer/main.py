"""The tracer's conversation: told once what to watch, told once that it is over, and then it tells what it saw.

On standard input one JSON line ``{"pid", "marker", "channels"}``, then any line, or the end of the stream, which ends
it with no word: whoever started it has died. On standard output one JSON line of what works, by channel ``""`` or the
problem; later for each channel that works a JSON line ``{"channel", "partial"}`` (why it is not whole, or ``""``), its
lines, and an empty one.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

from harness.traces.text import text_of
from harness.traces.tracer.calls import Calls
from harness.traces.tracer.files import Files
from harness.traces.tracer.mounts import held
from harness.traces.tracer.process import Processes
from harness.traces.tracer.table import Table, lines

_PATIENCE_S = 3.0
"""For the events that prove a watch."""
_END_S = 60.0
"""For what waits when it is over; what takes longer is lost, and said to be."""
_NICE = 5
"""The solver goes first: its events wait in the kernel."""


class Watch:
    """One channel, armed and proved; ``partial`` is why it is not whole, each part runs in a thread of its own."""

    def __init__(self, partial: Sequence[str], *parts: Files | Calls) -> None:
        self._partial = list(partial)
        self._parts = parts
        self._threads = [threading.Thread(target=part.watch, daemon=True) for part in parts]

    def start(self) -> None:
        """Begin to take events."""
        for thread in self._threads:
            thread.start()

    def finish(self) -> tuple[Table, str]:
        """All that was seen, in one table, and why it is not whole."""
        for part in self._parts:
            part.stop()
        whole = Table()
        for part, thread in zip(self._parts, self._threads, strict=True):
            thread.join(_END_S)
            if thread.is_alive():
                whole.lost["the tracer was held up"] += 1
            else:
                whole.take(part.table)
        return whole, "; ".join([*self._partial, *sorted(whole.lost)])


def _files(asked: Mapping[str, Any], stack: ExitStack) -> Watch:
    mounts, unreached = stack.enter_context(held(asked["pid"]))
    who = Processes(asked["marker"])
    parts = [Files([one for one in mounts if one.kernel is kernel], who, kernel=kernel) for kernel in (False, True)]
    unseen = {*unreached}
    for part in parts:
        unseen |= {*part.unmarked, *part.prove(_PATIENCE_S)}
    problems = [f"{len(unseen)} mounts are not watched: {text_of(b' '.join(sorted(unseen)))}"] if unseen else []
    return Watch(problems, *parts)


def _calls(asked: Mapping[str, Any], _: ExitStack) -> Watch:
    calls = Calls(asked["pid"])
    if not calls.prove(_PATIENCE_S):
        raise OSError(errno.ETIMEDOUT, "a call that was made to fail was not seen")
    return Watch([], calls)


_CHANNELS = {
    "denied": (_calls, "call", ("call", "target", "errno")),
    "filesystem": (_files, "path", ("path", "op", "inside")),
}
"""In the order in which they are armed: the first is proved by a child, which is to have one thread."""


def main() -> None:
    """Serve one attempt."""
    os.nice(_NICE)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    asked = json.loads(source.readline() or b"null")
    if asked is None:
        return
    problems: dict[str, str] = {}
    watches: dict[str, Watch] = {}
    with ExitStack() as stack:
        for channel, (arm, _, _) in _CHANNELS.items():
            if channel in asked["channels"]:
                try:
                    if not Processes(asked["marker"]).holds(asked["pid"]):
                        raise OSError(errno.ESRCH, "the container ended before it could be watched")
                    watches[channel] = arm(asked, stack)
                    problems[channel] = ""
                except OSError as error:
                    problems[channel] = error.strerror or str(error)
        for watch in watches.values():
            watch.start()
        sink.write(json.dumps(problems).encode() + b"\n")
        sink.flush()
        if source.readline():
            for channel, watch in watches.items():
                _tell(sink, channel, watch)
    os._exit(0)  # a thread that is held up holds nobody else up


def _tell(sink: BinaryIO, channel: str, watch: Watch) -> None:
    table, partial = watch.finish()
    _, kind, names = _CHANNELS[channel]
    sink.write(json.dumps({"channel": channel, "partial": partial}).encode() + b"\n")
    sink.writelines(lines(table, kind, names))
    sink.write(b"\n")
    sink.flush()

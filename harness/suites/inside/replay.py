"""Run one program over many sessions: ``replay.py FILE texts|digests ARGV...`` prints one JSON line for each.

FILE is a JSON list of texts, each given to a process of its own as standard input. A line is ``[status, output]``: the
exit status (negative for a signal, null for one that had to be ended), and standard output or its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import sys
from pathlib import Path

LIMIT_S = 5.0
MAX_OUTPUT = 1 << 20
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"}


def run(argv: list[str], text: str) -> tuple[int | None, bytes]:
    """Files in memory stand for both streams: a pipe would have to be fed and emptied while the program runs."""
    given, said = os.memfd_create("given"), os.memfd_create("said")
    try:
        os.write(given, text.encode())
        os.lseek(given, 0, os.SEEK_SET)
        actions = [
            (os.POSIX_SPAWN_DUP2, given, 0),
            (os.POSIX_SPAWN_DUP2, said, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawn(argv[0], argv, ENVIRONMENT, file_actions=actions)
        status = _wait(pid)
        return status, os.pread(said, MAX_OUTPUT, 0)
    finally:
        os.close(given)
        os.close(said)


def _wait(pid: int) -> int | None:
    late = False

    def end(*_: object) -> None:
        nonlocal late
        late = True
        os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None if late else status


def main(file: str, form: str, argv: list[str]) -> None:
    """Print the lines."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
    for text in json.loads(Path(file).read_text("utf-8")):
        status, output = run(argv, text)
        shown = output.decode("utf-8", "replace") if form == "texts" else hashlib.sha256(output).hexdigest()
        print(json.dumps([status, shown]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

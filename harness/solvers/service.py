"""A long-lived worker in the container, driven by JSON lines over a unix socket.

The worker (the manifest's ``argv``) listens on the socket named by ``CONTROL_SOCKET``. One request goes in::

    {"id": 1, "op": "solve", "prompt": "...", "workspace": "/workspace", "deadline_s": 60}

and any number of events come back, each one JSON object a line; the last of a request is ``done``::

    {"id": 1, "event": "progress", "text": "reading the tests"}
    {"id": 1, "event": "done", "status": "ok"}          # or "refused", or "failed"

A relay inside the container carries the lines, since the socket is out of the host's reach. A worker that ends, hangs
or talks nonsense ends the request with status ``failed``; what it left in the workspace is graded like any other.
"""

from __future__ import annotations

import json

from harness import digest
from harness.outcomes import Ending
from harness.solvers import Driver, SolveContext, Solved
from harness.solvers.manifest import Manifest

SOCKET = "/tmp/control.sock"  # noqa: S108 - inside the container, on its own capped /tmp
_MAX_LINE = 1 << 20

# Starts the worker, waits for its socket, sends the request lines of stdin, prints what comes back until the last
# request is done or the worker hangs up. The worker's own output is kept apart from the protocol, on stderr.
_RELAY = r"""
import json, os, socket, subprocess, sys, time
path, argv = sys.argv[1], sys.argv[2:]
requests = sys.stdin.buffer.read().splitlines()
last = json.loads(requests[-1])["id"]
worker = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=2, stderr=2, start_new_session=True)
link = socket.socket(socket.AF_UNIX)
while True:
    try:
        link.connect(path)
        break
    except OSError:
        if worker.poll() is not None:
            sys.exit(f"worker ended with status {worker.returncode} before it listened")
        time.sleep(0.01)
link.sendall(b"\n".join(requests) + b"\n")
for line in link.makefile("rb"):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    try:
        event = json.loads(line)
        if event.get("event") == "done" and event.get("id") == last:
            sys.exit(0)
    except (ValueError, AttributeError):
        continue
sys.exit("worker hung up before it was done")
"""


def service(manifest: Manifest) -> Driver:
    """A driver for the manifest's worker."""

    def drive(context: SolveContext) -> Solved:
        request = {
            "id": 1,
            "op": "solve",
            "prompt": context.task.prompt,
            "workspace": context.sandbox.spec.workdir,
            "deadline_s": int(context.timeout_s),
        }
        argv = ("python3", "-I", "-c", _RELAY, SOCKET, *manifest.argv)
        result = context.sandbox.run(
            argv,
            stdin=json.dumps(request).encode() + b"\n",
            timeout_s=context.timeout_s,
            max_output=context.max_output,
            env={**context.env, "CONTROL_SOCKET": SOCKET},
        )
        refused = last_status(result.stdout) == "refused"
        return Solved(
            argv=manifest.argv,
            ending=Ending.WALL_LIMIT if result.timed_out else Ending.SOLVER_REFUSED if refused else Ending.COMPLETED,
            exit_status=result.exit_status,
            stdout=result.stdout,
            stderr=result.stderr,
            dropped=result.dropped,
            transcript=result.stdout,
        )

    return drive


def last_status(stdout: bytes) -> str:
    """The status of the last well-formed ``done`` event; ``failed`` if there is none."""
    for line in reversed(stdout.splitlines()):
        if len(line) > _MAX_LINE:
            continue
        try:
            event = digest.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("event") == "done" and event.get("id") == 1:
            status = event.get("status")
            return status if status in {"ok", "refused"} else "failed"
    return "failed"

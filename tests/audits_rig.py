"""Attempts made up with traces of their own, for audits that need no engine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audits.attempt import audit_attempt
from audits.basis import TaskBasis
from audits.grounds import Surroundings
from audits.records import AttemptAudit
from harness.change import MANIFEST_TYPE
from harness.decoys import DECOYS_TYPE, HONEY, Decoy, Decoys
from harness.digest import canonical, sha256_bytes
from harness.evidence import AttemptRecord, Change, ChangeKind, ChangeManifest, TraceRecord
from harness.gateway.records import Provided, Stripped
from harness.outcomes import Outcome
from harness.records import BlobRef, Coverage, SolverRef, to_json
from harness.solvers.manifest import DriverKind
from harness.store import LocalStore
from harness.traces.records import DENIED, FILESYSTEM, LINES_TYPE
from tests.card_rig import Attempt, make_record
from tests.gateway_lines import line, traffic
from tests.plans import ZERO, plan

SECRET = random.Random(5).randbytes
"""Digits that are no secret's but these tests'."""
EXPOSURE, PUBLIC, TOKEN, NONCE = (SECRET(16).hex() for _ in range(4))
DECOY = "/tests/test_outputs.py"
DEFAULT: Any = object()


def chained(lines: Sequence[dict[str, Any]]) -> bytes:
    """Lines as a tracer writes them: numbered, chained, one a line."""
    made: list[bytes] = []
    for seq, one in enumerate(lines):
        prev = sha256_bytes(made[-1]) if made else None
        made.append(canonical({**one, "seq": seq, "prev": prev}))
    return b"".join(one + b"\n" for one in made)


def marker(path: str = "/") -> dict[str, Any]:
    return {"kind": "marker", "path": path, "at_us": 1}


def opened(path: str, *, inside: bool = True, count: int = 1) -> dict[str, Any]:
    times = {"first_us": 2, "last_us": 3, "pid": 7, "command": "cat"}
    return {"kind": "path", "path": path, "op": "open", "count": count, "inside": inside, **times}


def failed(target: str, error: str = "ENOENT", call: str = "open") -> dict[str, Any]:
    times = {"first_us": 2, "last_us": 3, "pid": 7, "command": "cat"}
    return {"kind": "call", "call": call, "target": target, "errno": error, "count": 1, **times}


def lost() -> dict[str, Any]:
    return {"kind": "overflow", "count": 1, "reason": "the queue was full", "at_us": 4}


def end(overflows: int = 0) -> dict[str, Any]:
    return {"kind": "end", "events": 9, "overflows": overflows}


def basis(**changes: Any) -> TaskBasis:
    """What the rig's task gives to look for."""
    ref = plan().tasks[0]
    return TaskBasis(task=ref, workspace="/workspace", public=PUBLIC, exposure=EXPOSURE).model_copy(update=changes)


@dataclass
class Room:
    """A store, and attempts in it."""

    folder: Path
    store: LocalStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = LocalStore(self.folder / "blobs")

    def put(self, data: bytes, kind: str = "application/json") -> BlobRef:
        return self.store.put(data, kind)

    def trace(
        self, channel: str, lines: Sequence[dict[str, Any]] | bytes, coverage: Coverage = Coverage.FULL
    ) -> TraceRecord:
        """A channel's record; bytes are taken as they are."""
        raw = lines if isinstance(lines, bytes) else chained(lines)
        return TraceRecord(channel=channel, coverage=coverage, reason="", lines=self.put(raw, LINES_TYPE))

    def web(self, *exchanges: dict[str, Any]) -> tuple[TraceRecord, Any]:
        """The web trace of these exchanges, and what it comes to."""
        seen = traffic(*exchanges)
        raw = b"".join(to_json(one) + b"\n" for one in seen.lines)
        return self.trace("web", raw), seen.short

    def asked(self, sent: bytes, received: bytes, **changes: Any) -> dict[str, Any]:
        """An exchange with its bodies."""
        return {**line(**changes), "sent": self.put(sent), "received": self.put(received)}

    def attempt(
        self,
        files: Sequence[dict[str, Any]] | bytes | None = DEFAULT,
        denied: Sequence[dict[str, Any]] | bytes | None = DEFAULT,
        exchanges: Sequence[dict[str, Any]] = DEFAULT,
        *,
        outcome: Outcome = Outcome.FAILED,
        change: dict[str, bytes] | None = None,
        stdout: bytes = b"",
        transcript: tuple[bytes, str] | None = None,
        **fields: Any,
    ) -> AttemptRecord:
        """An attempt of an agent that was watched in full, unless said otherwise; None is a channel nobody watched."""
        made = plan()
        record = make_record(self.store, made, made.cells()[0], 1, Attempt(outcome, (outcome is Outcome.SOLVED,)))
        web, short = self.web(*([self.asked(b"{}", b"{}")] if exchanges is DEFAULT else exchanges))
        traces = [web]
        for channel, lines in ((FILESYSTEM, files), (DENIED, denied)):
            seen = [marker(), end()] if lines is DEFAULT else lines
            traces.append(
                TraceRecord(channel=channel, coverage=Coverage.NONE, reason="not watched")
                if seen is None
                else self.trace(channel, seen)
            )
        tokens = to_json(Decoys(decoys=(Decoy(path=DECOY, token=TOKEN),)))
        traces.append(
            TraceRecord(channel=HONEY, coverage=Coverage.FULL, reason="", lines=self.put(tokens, DECOYS_TYPE))
        )
        manifest = ChangeManifest(
            base=ZERO,
            changes=tuple(
                Change(path=path, kind=ChangeKind.ADDED, mode=0o644, content=self.put(data))
                for path, data in (change or {}).items()
            ),
        )
        assert record.capture is not None
        assert record.solve is not None
        solve = record.solve.model_copy(
            update={
                "stdout": self.put(stdout),
                "transcript": None if transcript is None else self.put(*transcript),
            }
        )
        capture = record.capture.model_copy(update={"manifest": self.put(to_json(manifest), MANIFEST_TYPE)})
        update = {"traces": tuple(traces), "traffic": short, "capture": capture, "solve": solve, **fields}
        return record.model_copy(update=update)

    def audit(self, record: AttemptRecord, kind: DriverKind = DriverKind.CLI, **about: Any) -> AttemptAudit:
        """Its audit."""
        solver = SolverRef(name="a0", kind=kind.value, manifest=ZERO)
        given = {"solver": solver, "basis": basis(), "nonces": (("nonce of the baseline", NONCE),), **about}
        return audit_attempt(record, ZERO, self.store, Surroundings(**given))


def denial(rule: str, host: str, method: str = "GET") -> dict[str, Any]:
    """A request that was refused."""
    return {**line(None, denial=rule), "method": method, "host": host, "path": "/"}


def searching() -> dict[str, Any]:
    """An exchange out of whose request a provider's search was taken."""
    stripped = (Stripped(kind=Provided.WEB_SEARCH, name="web_search_20250305", where="tools[0]"),)
    return {**line(), "stripped": stripped}

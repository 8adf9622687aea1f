"""One attempt, audited: every channel of its stored evidence in turn, then a verdict on each axis.

Pure: a record, a store and what the task gives to look for go in; findings come out, the same each time.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from audits import paths
from audits.basis import lines_of_archive
from audits.cutoffs import training_of
from audits.exposure import Search
from audits.filesystem import audit_denied, audit_filesystem
from audits.grounds import WORST, Surroundings, all_shown, ground_of
from audits.needles import Needle
from audits.overlap import MIN_TOKENS, Runs, containment, overlap, runs_of
from audits.patch_scan import scan_source
from audits.records import AttemptAudit, Axis, Citation, Fact, Kind, Overlap, Seen, Source
from audits.streams import texts_of
from audits.tampering import audit_grading
from audits.transcripts import audit_log, audit_steps
from audits.verdict import Notebook, access_of, decide
from audits.web import Exchange, audit_answer, audit_web
from harness.decoys import HONEY, Decoy, Decoys
from harness.errors import VerifyError
from harness.evidence import AttemptRecord, ChangeKind, ChangeManifest, TraceRecord
from harness.gateway.deltas import DELTA_TYPE, Reader
from harness.outcomes import Outcome
from harness.records import BlobRef, Coverage, from_json
from harness.solvers.agent import TranscriptKind
from harness.solvers.transcripts import kind_of as transcript_kind
from harness.store import Store
from harness.suites.foreign.atif import Agent
from harness.trajectories import convert

TRANSCRIPT, PATCH = "transcript", "patch"
_OWN_READERS = {TranscriptKind.CLAUDE, TranscriptKind.CODEX, TranscriptKind.MINI}
"""Logs that are read as they stream; the others are first made a trajectory of."""


def audit_attempt(record: AttemptRecord, digest: str, store: Store, about: Surroundings) -> AttemptAudit:
    """Audit one attempt's record.

    Args:
        record: the record, as stored.
        digest: its own.
        store: where its blobs are; one that is missing or damaged is a gap, not an error.
        about: what is known of task and solver.
    """
    audit = _Audit(record, store, about)
    if record.solve is None and record.capture is None and record.grade is None:
        return audit.result(digest)
    audit.traces()
    audit.told()
    audit.change()
    audit_grading(record, audit.book)
    return audit.result(digest)


class _Audit:
    """One audit on its way."""

    def __init__(self, record: AttemptRecord, store: Store, about: Surroundings) -> None:
        self.record, self.store, self.about = record, store, about
        self.bodies = Reader(store)
        self.book = Notebook()
        self.channels: dict[str, Seen] = {}
        self.overlap: Overlap | None = None
        self.decoys = self._decoys()
        self.search = Search(self._needles())
        basis = about.basis
        self.workspaces = (basis.workspace,) if basis else paths.WORKSPACES

    # --------------------------------------------------------------------------------------------------------- channels

    def traces(self) -> None:
        """The host's own traces, and the bodies that the web trace names."""
        for trace in self.record.traces:
            if trace.channel != HONEY:
                self.channels[trace.channel] = self._trace(trace)

    def _trace(self, trace: TraceRecord) -> Seen:
        if trace.lines is None:
            return Seen(coverage=trace.coverage, reason=trace.reason)
        data = self._get(trace.lines)
        if data is None:
            return Seen(coverage=Coverage.NONE, reason="its lines are missing or damaged")
        raw = io.BytesIO(data)
        basis = self.about.basis
        match trace.channel:
            case "filesystem":
                seen = audit_filesystem(
                    raw,
                    self.book,
                    decoys={one.path for one in self.decoys},
                    workspaces=self.workspaces,
                    project=basis.project if basis else None,
                )
            case "denied":
                seen = audit_denied(raw, self.book, folder=self.workspaces[0], workspaces=self.workspaces)
            case "web":
                web = audit_web(raw, self.book)
                seen = self._bodies(web.exchanges, web.seen)
            case _:
                return Seen(coverage=trace.coverage, reason=trace.reason)
        worst = max(seen.coverage, trace.coverage, key=WORST.index)
        reason = trace.reason if seen.coverage is Coverage.FULL else f"{seen.reason} ({trace.reason})"
        return Seen(coverage=worst, reason=reason, lines=seen.lines)

    def _bodies(self, exchanges: Sequence[Exchange], seen: Seen) -> Seen:
        missing = 0
        first = True
        for one in exchanges:
            for ref, sent in ((one.sent, True), (one.received, False)):
                if ref is None or not one.billed:
                    continue
                body = self._get(ref)
                if body is None:
                    missing += 1
                elif sent:
                    if first:
                        self._handed(one.seq, body)
                    first = False
                    self.search.sent(one.seq, body)
                else:
                    self.search.received(one.seq, body)
                    audit_answer(one.seq, body, self.book)
        if not missing:
            return seen
        reason = f"{missing} bodies are missing or damaged"
        return Seen(coverage=max(seen.coverage, Coverage.PARTIAL, key=WORST.index), reason=reason, lines=seen.lines)

    def _handed(self, seq: int, body: bytes) -> None:
        """Whether the very first request has the reference: nobody but the harness can have put it there."""
        basis = self.about.basis
        if basis is None or sum(map(len, basis.reference)) < MIN_TOKENS:
            return
        text = "\n".join(one.decode("utf-8", "replace") for one in texts_of(body))
        share = containment(basis.reference, runs_of(text, self._known()))
        if share * 2 >= 1:
            detail = f"the first request has {int(share * 100)}% of the reference's five-grams"
            cite = Citation(source=Source.WEB, seq=seq, at="sent")
            self.book.add(Axis.SUBMITTER, Kind.HARNESS_LEAK, Fact.EXPOSURE, detail, cite)

    def told(self) -> None:
        """What the solver printed, and its own log."""
        solve = self.record.solve
        if solve is None:
            return
        for name, ref in (("solve.stdout", solve.stdout), ("solve.stderr", solve.stderr)):
            data = self._get(ref)
            if data is not None:
                self.search.told(Source.OUTPUT, name, [data])
        if solve.transcript is None:
            return
        data = self._get(solve.transcript)
        if data is None:
            self.channels[TRANSCRIPT] = Seen(coverage=Coverage.NONE, reason="it is missing or damaged")
            return
        self.search.told(Source.TRANSCRIPT, "solve.transcript", [data])
        kind = transcript_kind(solve.transcript.media_type)
        if kind is None or kind in _OWN_READERS:
            log = audit_log(io.BytesIO(data).read, self.book, sealed=True)
            self.channels[TRANSCRIPT] = Seen(coverage=log.coverage, reason=log.reason, lines=log.steps)
            return
        made = convert(kind, data, Agent(name="agent", version="unknown"))
        steps = made.trajectory.steps if made.trajectory else ()
        partial = audit_steps((one.model_dump() for one in steps), self.book, sealed=True)
        coverage = max(made.coverage, Coverage.PARTIAL if partial else Coverage.FULL, key=WORST.index)
        self.channels[TRANSCRIPT] = Seen(coverage=coverage, reason=partial or made.reason, lines=len(steps))

    def change(self) -> None:
        """What the attempt changed: secrets in it, what it shares with the reference, what meddles with a test run."""
        capture = self.record.capture
        if capture is None or capture.manifest is None:
            return
        data = self._get(capture.manifest)
        if data is None:
            self.channels[PATCH] = Seen(coverage=Coverage.NONE, reason="it is missing or damaged")
            return
        try:
            manifest = from_json(ChangeManifest, data)
        except VerifyError:
            self.channels[PATCH] = Seen(coverage=Coverage.NONE, reason="it is no change manifest")
            return
        runs: list[tuple[int, ...]] = []
        missing = 0
        for change in manifest.changes:
            if change.kind is ChangeKind.DELETED or change.content is None:
                continue
            content = self._get(change.content)
            if content is None:
                missing += 1
                continue
            self.search.changed(change.path, content)
            scan_source(change.path, content, self.book)
            if self.about.basis is not None and len(content) <= 1 << 20:
                runs += runs_of(content.decode("utf-8", "replace"), self._known())
        coverage = Coverage.PARTIAL if missing else Coverage.FULL
        reason = f"{missing} files are missing or damaged" if missing else "every file was read"
        self.channels[PATCH] = Seen(coverage=coverage, reason=reason, lines=len(manifest.changes))
        basis = self.about.basis
        if basis is not None:
            made: Runs = tuple(runs)
            self.overlap = overlap(basis.reference, frozenset(basis.rare), made)

    # ----------------------------------------------------------------------------------------------------------- result

    def result(self, digest: str) -> AttemptAudit:
        """The verdicts."""
        record = self.record
        recalled = self.search.conclude(self.book, watched=all_shown(record, self.channels))
        audited = record.solve is not None or record.capture is not None or record.grade is not None
        passed = record.outcome is Outcome.SOLVED
        axes = (
            {
                axis: decide(
                    axis, self.book.of(axis), ground_of(axis, record, self.channels, self.about), passed=passed
                )
                for axis in Axis
            }
            if audited
            else {}
        )
        models: Sequence[str] = ()
        if not self.about.rehearsed and record.traffic is not None:
            models = record.traffic.served_models or record.traffic.requested_models or ("unknown",)
        return AttemptAudit(
            cell=record.cell,
            attempt_try=record.attempt_try,
            record=digest,
            outcome=record.outcome,
            ran=record.solve is not None,
            axes=axes,
            access=access_of(one for axis, one in axes.items() if axis is not Axis.GRADING),
            training=training_of(models, self.about.basis, recalled),
            overlap=self.overlap,
            channels=self.channels,
        )

    # ---------------------------------------------------------------------------------------------------------- sources

    def _get(self, ref: BlobRef) -> bytes | None:
        try:
            # Requests of a conversation are kept by what each adds to the one before.
            return self.bodies.get(ref) if ref.media_type == DELTA_TYPE else self.store.get(ref.digest)
        except VerifyError:
            return None

    def _decoys(self) -> tuple[Decoy, ...]:
        trace = next((one for one in self.record.traces if one.channel == HONEY), None)
        data = self._get(trace.lines) if trace is not None and trace.lines is not None else None
        if data is None:
            return ()
        try:
            return from_json(Decoys, data).decoys
        except VerifyError:
            return ()

    def _needles(self) -> tuple[Needle, ...]:
        basis = self.about.basis
        found = [Needle(Kind.HONEYTOKEN, one.path, one.token) for one in self.decoys]
        if basis is not None:
            found += [Needle(Kind.EXPOSURE_CANARY, "exposure canary", basis.exposure)] if basis.exposure else []
            found += [Needle(Kind.PUBLIC_CANARY, "public canary", basis.public)] if basis.public else []
        found += [Needle(Kind.NONCE, name, nonce) for name, nonce in self.about.nonces]
        return tuple(found)

    def _known(self) -> frozenset[int]:
        """Lines that the task itself shows."""
        basis, seed = self.about.basis, self.record.seed
        known = frozenset(basis.known) if basis else frozenset[int]()
        if seed is None:
            return known
        name = seed.archive.digest
        if name not in self.about.seeds:
            self.about.seeds[name] = lines_of_archive(self.store, name)
        return known | self.about.seeds[name]

"""What a card is made from: the tries of a run's cells, and the records that they left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.digest import sha256_bytes
from harness.energy.account import settle
from harness.energy.records import IdleBaseline
from harness.errors import VerifyError
from harness.evidence import AttemptRecord
from harness.gateway.usage import total, unavailable
from harness.ledger import Try, TryState
from harness.records import BlobRef, Cell, Coverage, Microseconds, Plan, Record, from_json
from harness.references import WEB
from harness.store import Store
from harness.traffic import Exchange, exchanges, read_trace
from scoring import statistics
from scoring.prices import PriceTable


class TryEvidence(Record):
    """One try of one planned cell. ``record`` names the attempt record; an abandoned try left none."""

    cell: Cell
    attempt_try: int
    state: TryState
    started_us: Microseconds
    ended_us: Microseconds | None
    record: BlobRef | None


@dataclass(frozen=True)
class Evidence:
    """A finished run. Every planned cell's last try is the one that ended it."""

    plan: Plan
    tries: Sequence[TryEvidence]
    records: Mapping[str, AttemptRecord]
    """By digest; their energies settled, if there is an idle power to settle into."""
    idle_after: IdleBaseline | None = None
    """The host's idle power after the last attempt, where a counter measured it."""
    used: Mapping[str, Sequence[Exchange]] = field(default_factory=dict)
    """What is to be paid for, by the digest of the record, where a web trace says it."""
    prices: PriceTable | None = None
    """What it is priced by; None where no money is shown."""
    statistics: int = statistics.VERSION
    """The version of the statistics: a card's own where it is worked out again."""

    def of_solver(self, solver: str) -> list[TryEvidence]:
        """All tries of a solver's cells, in the order given."""
        return self._by_solver.get(solver, [])

    def of_cell(self, cell: Cell) -> list[TryEvidence]:
        """All tries of a cell, first to last."""
        return self._by_cell.get(cell.key, [])

    @cached_property
    def _by_solver(self) -> Mapping[str, list[TryEvidence]]:
        found: dict[str, list[TryEvidence]] = {}
        for one in self.tries:
            found.setdefault(one.cell.solver, []).append(one)
        return found

    @cached_property
    def _by_cell(self) -> Mapping[str, list[TryEvidence]]:
        found: dict[str, list[TryEvidence]] = {}
        for one in sorted(self.tries, key=lambda one: one.attempt_try):
            found.setdefault(one.cell.key, []).append(one)
        return found

    def record_of(self, one: TryEvidence) -> AttemptRecord | None:
        """The record that a try left."""
        return None if one.record is None else self.records[one.record.digest]

    def final(self, cell: Cell) -> AttemptRecord:
        """The record that ended a planned cell.

        Raises:
            KeyError: the cell has not ended.
        """
        last = next(reversed(self.of_cell(cell)), None)
        if last is None or last.state is not TryState.ENDED or last.record is None:
            raise KeyError(cell.key)
        return self.records[last.record.digest]


def try_evidence(tries: Sequence[Try]) -> tuple[TryEvidence, ...]:
    """The ledger's tries as a card keeps them."""
    return tuple(
        TryEvidence(
            cell=one.cell,
            attempt_try=one.attempt_try,
            state=one.state,
            started_us=one.started_us,
            ended_us=one.ended_us,
            record=one.record,
        )
        for one in tries
    )


def read_evidence(
    plan: Plan,
    tries: Sequence[Try],
    store: Store,
    idle_after: IdleBaseline | None = None,
    prices: PriceTable | None = None,
) -> Evidence:
    """A run's evidence from its store.

    Raises:
        VerifyError: a record is missing, changed, or says another outcome than the ledger.
    """
    records: dict[str, AttemptRecord] = {}
    for one in tries:
        if one.record is None:
            continue
        where = f"record of {one.cell.key} try {one.attempt_try}"
        record = from_json(AttemptRecord, store.get(one.record.digest), where)
        if record.outcome is not one.outcome:
            raise VerifyError(
                where, f"says {record.outcome.value}, the ledger says {one.outcome}", "put back a copy of the ledger"
            )
        records[one.record.digest] = settled(record, idle_after, store)
    return Evidence(plan, try_evidence(tries), records, idle_after, used_by(records, store), prices)


def used_by(records: Mapping[str, AttemptRecord], store: Store) -> dict[str, tuple[Exchange, ...]]:
    """The exchanges of each record that has a web trace; of one that is not whole, also one of unknown use.

    Raises:
        VerifyError: a trace is missing or changed, or the record's account of it is another one.
    """
    found: dict[str, tuple[Exchange, ...]] = {}
    for name, record in records.items():
        watched = next((one for one in record.traces if one.channel == WEB), None)
        trace = watched.lines if watched else None
        if record.traffic is None or watched is None or trace is None:
            continue
        lines = read_trace(store, trace)
        used = exchanges(lines)
        end = store.get(trace.digest).splitlines()[-1:]
        last = sha256_bytes(end[0]) if end else None
        same = total((one.request_id, one.usage) for one in used)
        if (record.traffic.last_line, record.traffic.usage) != (last, same):
            raise VerifyError(f"record {name}", "says of its traffic what its trace does not", "put back a copy")
        if watched.coverage is not Coverage.FULL:
            used += (Exchange("beside the trace", None, unavailable(watched.reason or "the trace is not whole")),)
        found[name] = used
    return found


def settled(record: AttemptRecord, idle_after: IdleBaseline | None, store: Store) -> AttemptRecord:
    """A view of the record: its energy over the idle power before and after the run, drift between them flagged.

    The stored record keeps what was known when it was written. Only a later idle power of the same host counts.

    Raises:
        VerifyError: the readings are missing or changed.
    """
    solve = record.solve
    if solve is None or idle_after is None or idle_after.host_fingerprint != solve.energy.host_fingerprint:
        return record
    if solve.energy.idle.power_uw is None or idle_after.measured_us < solve.energy.started_us:
        return record
    energy = settle(solve.energy, store.get(solve.energy.readings.digest), idle_after)
    return record.model_copy(update={"solve": solve.model_copy(update={"energy": energy})})

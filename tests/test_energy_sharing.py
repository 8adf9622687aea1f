"""Attempts that run at once share their host's energy by CPU time: each its own part, and all parts the whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.energy import Bracket, Session, settle, verify
from harness.energy.attribution import OWN, Attribution, attribute, shared_ticks
from harness.energy.estimator import EstimatorMeter, Watts
from harness.energy.idle import QUICK, calibrate
from harness.energy.meter import MeterInfo, Values
from harness.energy.readings import load_chain
from harness.energy.records import EnergyFlag, EnergyRecord, Provenance, Zone
from harness.energy.totals import total_energy
from tests.energy_rig import HOST, WATT, Time, idle_baseline, package

IDLE_W = 50


@dataclass
class Host:
    """A host that draws what it is told to, and whose attempts use what they are told to."""

    folder: Path
    time: Time = field(default_factory=Time)
    energy_uj: int = 1_000_000
    busy_us: int = 0
    cpu_us: dict[str, int | None] = field(default_factory=dict)
    name: str = "host"

    def zones(self) -> tuple[Zone, ...]:
        return (package(range_uj=None),)

    def read(self) -> Values:
        return {"package-0": self.energy_uj}

    def power_uw(self, zone: str) -> int | None:
        del zone
        return None

    def describe(self) -> MeterInfo:
        return MeterInfo(self.name)

    def close(self) -> None:
        return None

    def session(self) -> Session:
        self.tell()
        return Session(self, idle_baseline(IDLE_W), self.time.clock, self.folder / "stat")

    def bracket(self, session: Session, name: str, used: int | None = 0) -> Bracket:
        """An open bracket of an attempt by that name."""
        self.cpu_us[name] = used
        bracket = session.bracket(cpu_us=lambda: self.cpu_us[name])
        bracket.start()
        return bracket

    def work(self, seconds: int, joules: int, used_s: dict[str, int], other_s: int = 0) -> None:
        """Let time pass in which so much is drawn and used."""
        self.time.advance(seconds)
        self.energy_uj += joules * WATT
        for name, used in used_s.items():
            before = self.cpu_us[name]
            self.cpu_us[name] = None if before is None else before + used * WATT
        self.busy_us += (sum(used_s.values()) + other_s) * WATT
        self.tell()

    def tell(self) -> None:
        (self.folder / "stat").write_text(f"cpu  {self.busy_us // 10_000} 0 0 0 0 0 0 0 0 0\n")


def test_the_research_s_piecewise_example_end_to_end(tmp_path: Path) -> None:
    host = Host(tmp_path)
    session = host.session()
    a = host.bracket(session, "a")
    host.work(10, 600, {"a": 5})
    b = host.bracket(session, "b")
    host.work(10, 900, {"a": 5, "b": 5})
    first = a.stop()
    host.work(10, 600, {"b": 5})
    second = b.stop()
    for record, readings in (first, second):
        assert (record.active_uj, record.idle_uj, record.gross_uj) == (300 * WATT, 750 * WATT, 1050 * WATT)
        assert record.provenance is Provenance.MODELLED
        assert EnergyFlag.SHARED in record.flags
        assert not record.reliable
        verify(record, readings)
    assert first.record.shared_out and second.record.shared_out
    together = total_energy([first.record, second.record], resolved=2)
    assert (together.total_uj, together.provenance, together.frontier) == (600 * WATT, Provenance.MODELLED, False)


def test_what_others_use_belongs_to_no_attempt_and_is_flagged(tmp_path: Path) -> None:
    host = Host(tmp_path)
    session = host.session()
    a, b = host.bracket(session, "a"), host.bracket(session, "b")
    host.work(100, 12_000, {"a": 60, "b": 20}, other_s=20)
    records = [one.stop().record for one in (a, b)]
    assert [one.active_uj for one in records] == [4200 * WATT, 1400 * WATT]
    assert all(EnergyFlag.NOISY_HOST in one.flags for one in records)


def test_one_alone_is_measured_and_shares_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path)
    a = host.bracket(host.session(), "a")
    host.work(100, 12_000, {"a": 1}, other_s=99)
    record, readings = a.stop()
    assert (record.active_uj, record.provenance, record.shared_out) == (7000 * WATT, Provenance.COUNTER, False)
    verify(record, readings)


def test_without_cpu_times_there_is_no_share_and_the_reason(tmp_path: Path) -> None:
    host = Host(tmp_path)
    session = host.session()
    a, b = host.bracket(session, "a", None), host.bracket(session, "b")
    host.work(100, 12_000, {"b": 50})
    unknown, known = a.stop(), b.stop()
    assert unknown.record.active_uj is None
    assert "CPU time could not be read" in unknown.record.missing["active_uj"]
    assert known.record.active_uj == 7000 * WATT
    assert known.record.idle_uj == 2500 * WATT, "the other one was present all the same"
    for record, readings in (unknown, known):
        verify(record, readings)
    (tmp_path / "stat").unlink()
    a, b = host.bracket(session, "a"), host.bracket(session, "b")
    assert [one.stop().record.active_uj for one in (a, b)] == [None, None]


def test_a_share_is_settled_into_the_idle_power_after_the_run(tmp_path: Path) -> None:
    host = Host(tmp_path)
    session = host.session()
    a, b = host.bracket(session, "a"), host.bracket(session, "b")
    host.work(100, 12_000, {"a": 50, "b": 50})
    record, readings = a.stop()
    after = idle_baseline(60, at_us=record.started_us + 10**12)
    later = settle(record, readings, after.model_copy(update={"measured_us": 2 * record.started_us + record.wall_us}))
    assert record.active_uj == 3500 * WATT
    assert later.active_uj == 3250 * WATT
    assert later.shared_out
    b.stop()


def test_the_estimator_is_a_coefficient_of_each_attempt_and_is_not_shared_out(tmp_path: Path) -> None:
    time = Time()
    meter = EstimatorMeter(Watts("10", "option"))
    session = Session(meter, calibrate(meter, HOST, QUICK, time.clock), time.clock, tmp_path / "stat")
    a, b = session.bracket(cpu_us=lambda: 5), session.bracket(cpu_us=lambda: 5)
    a.start()
    b.start()
    time.advance(10)
    records = [one.stop().record for one in (a, b)]
    assert [(one.active_uj, one.shared_out) for one in records] == [(100 * WATT, False)] * 2
    assert all(EnergyFlag.SHARED in one.flags for one in records)


# ----------------------------------------------------------------------------------------------------------------- law

step = st.tuples(
    st.sampled_from(["open", "close", "work"]),
    st.integers(0, 4),
    st.integers(1, 60),
    st.integers(0, 30_000),
    st.lists(st.integers(0, 40), min_size=5, max_size=5),
    st.integers(0, 40),
)


def whole(watcher: EnergyRecord, readings: bytes) -> tuple[Attribution, int]:
    """The sharing out of everything that one who was there all the time saw, and in how many steps."""
    seen = load_chain(readings, watcher.chain_head)
    ticks = shared_ticks([one.zone for one in watcher.zones], seen)
    assert ticks is not None
    return attribute(ticks, IDLE_W * WATT), len(ticks)


@settings(max_examples=60, deadline=None)
@given(st.lists(step, min_size=1, max_size=25))
def test_all_attempts_shares_and_what_is_nobody_s_sum_to_the_whole(
    steps: list[tuple[str, int, int, int, list[int], int]],
) -> None:
    with TemporaryDirectory() as folder:
        host = Host(Path(folder))
        session = host.session()
        watcher = host.bracket(session, "watcher")
        host.bracket(session, "first").stop()  # so that the watcher's window is a shared one
        began, running, records = host.energy_uj, {}, []
        for number, (act, who, seconds, joules, used, other) in enumerate(steps):
            name = next((one for one in running if one.startswith(f"{who}-")), None)
            if act == "open" and name is None:
                running[f"{who}-{number}"] = host.bracket(session, f"{who}-{number}")
            elif act == "close" and name is not None:
                records.append(running.pop(name).stop())
            else:
                host.work(seconds, min(joules, 1000 * seconds), {one: used[int(one[0])] for one in running}, other)
        records += [one.stop() for one in running.values()]
        seen, readings = watcher.stop()
        parts, ticks = whole(seen, readings)
        drawn = host.energy_uj - began
        assert parts.total_uj == drawn
        mine, other = parts.attempts[OWN], parts.other
        assert (seen.active_uj, seen.idle_uj) == (mine.active_uj, mine.idle_uj)
        theirs = sum(record.gross_uj or 0 for record, _ in records)
        # each part is cut to whole microjoules in each step
        assert abs(drawn - theirs - mine.active_uj - mine.idle_uj - other.active_uj - other.idle_uj) <= 14 * ticks
        for record, lines in records:
            verify(record, lines)

"""The bracket and its session, the estimator, the choice of a meter, and which host this is."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.energy import EnergyRequest, MeterChoice, Session, choose, open_session, survey, verify
from harness.energy.clock import Clock
from harness.energy.estimator import DEFAULT_WATTS, EstimatorMeter, Watts, active_watts
from harness.energy.fingerprint import host_facts
from harness.energy.idle import QUICK, calibrate
from harness.energy.meter import CompositeMeter, MeterInfo, OffMeter, Values
from harness.energy.records import EnergyFlag, Provenance, Zone
from harness.errors import UserError
from tests.energy_rig import HOST, WATT, Powercap, Time, package


def estimating(time: Time, watts: str = "15", source: str = "default") -> Session:
    meter = EstimatorMeter(Watts(watts, source))
    return Session(meter, calibrate(meter, HOST, QUICK, time.clock), time.clock)


def test_the_estimator_is_wall_time_by_watts_and_always_says_so() -> None:
    time = Time()
    bracket = estimating(time, "27.5", "option").bracket()
    bracket.start()
    time.advance(10)
    record, readings = bracket.stop()
    assert record.active_uj == 275 * WATT
    assert (record.gross_uj, record.idle_uj, record.uncertainty_uj) == (None, None, None)
    assert set(record.missing) == {"gross_uj", "idle_uj", "uncertainty_uj"}
    assert record.provenance is Provenance.MODELLED
    assert (record.meter, record.zone_set, record.scope) == ("estimator", "estimate", "host_marginal")
    assert (record.estimator_watts, record.estimator_source) == ("27.5", "option")
    assert record.flags == (EnergyFlag.MODELLED,)
    assert record.mark == "~"
    verify(record, readings)


def test_no_meter_keeps_the_wall_time_and_no_energy() -> None:
    time = Time()
    session = Session(OffMeter(), calibrate(OffMeter(), HOST, QUICK, time.clock), time.clock)
    bracket = session.bracket()
    bracket.start()
    time.advance(3)
    record, readings = bracket.stop()
    assert record.wall_us == 3 * WATT
    assert (record.gross_uj, record.active_uj) == (None, None)
    assert record.missing["gross_uj"] == "no meter"
    assert (record.provenance, record.zone_set) == (Provenance.UNAVAILABLE, "none")
    verify(record, readings)


def test_a_bracket_with_an_error_inside_is_closed_all_the_same() -> None:
    session = estimating(Time())
    bracket = session.bracket()
    with pytest.raises(KeyError), bracket:
        raise KeyError
    assert bracket.stop() is bracket.stop()
    with session.bracket() as second:
        pass
    assert EnergyFlag.SHARED not in second.stop().record.flags


def test_a_bracket_that_never_opened_is_a_mistake_in_the_caller() -> None:
    with pytest.raises(RuntimeError, match="before it was started"):
        estimating(Time()).bracket().stop()


def test_overlapping_brackets_are_both_flagged() -> None:
    session = estimating(Time())
    first, second, third = session.bracket(), session.bracket(), session.bracket()
    first.start()
    second.start()
    second.stop()
    first.stop()
    third.start()
    third.stop()
    flags = [EnergyFlag.SHARED in each.stop().record.flags for each in (first, second, third)]
    assert flags == [True, True, False]


class Announcing:
    """A meter that tells when it has been read three times."""

    name = "announcing"

    def __init__(self) -> None:
        self.reads = 0
        self.third = threading.Event()

    def zones(self) -> tuple[Zone, ...]:
        return (package(range_uj=40_000_000),)

    def read(self) -> Values:
        self.reads += 1
        if self.reads == 3:
            self.third.set()
        return {"package-0": self.reads}

    def power_uw(self, zone: str) -> int | None:
        del zone
        return None

    def describe(self) -> MeterInfo:
        return MeterInfo(self.name)

    def close(self) -> None:
        return None


def test_a_thread_reads_in_between_and_ends_with_the_bracket() -> None:
    meter = Announcing()
    idle = calibrate(OffMeter(), HOST, QUICK, Time().clock)
    bracket = Session(meter, idle).bracket()
    before = threading.active_count()
    with bracket:
        assert meter.third.wait(30)
    assert threading.active_count() == before
    record, readings = bracket.stop()
    assert len(readings.splitlines()) >= 4
    verify(record, readings)


def test_several_meters_read_as_one() -> None:
    class Other(Announcing):
        name = "other"

        def zones(self) -> tuple[Zone, ...]:
            return (package(name="other-0"),)

        def read(self) -> Values:
            return {"other-0": 7}

        def power_uw(self, zone: str) -> int | None:
            return {"other-0": 9}[zone]

    both = CompositeMeter([Announcing(), Other()])
    assert both.name == "announcing+other"
    assert dict(both.read()) == {"package-0": 1, "other-0": 7}
    assert both.power_uw("package-0") is None
    assert both.power_uw("other-0") == 9
    both.close()
    with pytest.raises(ValueError, match="share a zone name"):
        CompositeMeter([Announcing(), Announcing()])


# --------------------------------------------------------------------------------------------------------------- watts


def test_watts_come_from_the_option_then_the_environment_then_the_configuration() -> None:
    environ = {"JOULE_BENCH_ACTIVE_WATTS": "20"}
    assert active_watts("30", environ, "10") == Watts("30", "option")
    assert active_watts(None, environ, "10") == Watts("20", "JOULE_BENCH_ACTIVE_WATTS")
    assert active_watts(None, {}, "10") == Watts("10", "configuration")
    assert active_watts(None, {}) == Watts(DEFAULT_WATTS, "default")


@pytest.mark.parametrize("text", ["", "0", "0.0", "-5", "1e3", "nan", "15 W", "1.1234567", "9" * 9, "٣"])
def test_watts_that_are_no_watts(text: str) -> None:
    with pytest.raises(UserError, match=r"^JOULE_BENCH_ACTIVE_WATTS: .* is not a number of watts; give a positive"):
        active_watts(None, {"JOULE_BENCH_ACTIVE_WATTS": text})
    with pytest.raises(UserError, match=r"^--active-watts: "):
        active_watts(text, {})


@given(st.integers(1, 999_999_999_999))
def test_every_positive_number_of_microwatts_is_kept_exactly(microwatts: int) -> None:
    text = f"{microwatts // 10**6}.{microwatts % 10**6:06}"
    meter = EstimatorMeter(active_watts(text, {}))
    assert dict(meter.read()) == {"estimate": microwatts}


# ---------------------------------------------------------------------------------------------------------- the choice


def test_choosing_by_name(tmp_path: Path) -> None:
    sources = Powercap(tmp_path / "powercap").sources()
    watts = Watts("15", "default")
    assert choose(EnergyRequest(MeterChoice.ESTIMATOR, watts), sources).name == "estimator"
    assert choose(EnergyRequest(MeterChoice.OFF, watts), sources).name == "off"
    assert {line.name for line in survey(watts, sources) if line.available} >= {"estimator"}


def test_auto_takes_a_counter_where_one_reads(tmp_path: Path) -> None:
    tree = Powercap(tmp_path / "powercap")
    tree.add("intel-rapl:0", "package-0")
    request = EnergyRequest(MeterChoice.AUTO, Watts("15", "default"))
    assert "rapl" in choose(request, tree.sources()).name
    assert "rapl" in choose(EnergyRequest(MeterChoice.MEASURED, request.watts), tree.sources()).name


def test_an_estimator_session_opens_at_once_and_writes_nothing(tmp_path: Path) -> None:
    request = EnergyRequest(MeterChoice.ESTIMATOR, Watts("15", "default"), quick_idle=False)
    session = open_session(request, tmp_path / "cache")
    with session.bracket(scripted=True) as bracket:
        pass
    record, readings = bracket.stop()
    assert record.marked_by == (EnergyFlag.MODELLED, EnergyFlag.SCRIPTED)
    assert record.readings.size == len(readings)
    assert not (tmp_path / "cache").exists()
    session.close()


def test_importing_the_package_loads_no_vendor_bindings() -> None:
    code = "import sys, harness.energy; sys.exit('pynvml' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)


# ------------------------------------------------------------------------------------------------------------ the host


def test_the_fingerprint_tells_hosts_apart_and_hides_the_machine_id(tmp_path: Path) -> None:
    sources = Powercap(tmp_path / "powercap").sources()

    def facts(*zones: Zone) -> str:
        return host_facts(zones, sources.proc, sources.machine_id).fingerprint

    first = facts(package())
    assert first == facts(package())
    assert first != facts(package(), package(name="package-1"))
    assert first != facts(package(provenance=Provenance.INTEGRATED))
    shown = host_facts((package(),), sources.proc, sources.machine_id)
    assert (shown.cpu_model, shown.sockets, shown.memory_gib) == ("Test CPU", 1, 16)
    assert "0123456789abcdef" not in shown.model_dump_json()
    (sources.proc / "meminfo").write_text("MemTotal:       16299000 kB\n")
    assert first == facts(package())
    sources.machine_id.write_text("fedcba9876543210fedcba9876543210\n")
    assert first != facts(package())


def test_a_host_that_tells_nothing_still_has_a_fingerprint(tmp_path: Path) -> None:
    facts = host_facts((), tmp_path / "proc", tmp_path / "machine-id")
    assert facts.machine is None
    assert facts.memory_gib == 0
    assert facts.cpu_model
    assert facts.fingerprint.startswith("sha256:")


# ----------------------------------------------------------------------------------------------------------- the clock


def test_the_real_clock_reads_sleep_within_its_tolerance() -> None:
    _, first = Clock().now()
    _, second = Clock().now()
    assert abs(second - first) < 50_000_000


def test_a_torn_reading_of_the_clocks_is_taken_again() -> None:
    delays = iter([0, 900_000_000, 900_000_000, 900_000_000, 900_000_000, 900_000_100])
    now = {"ns": 0}

    def monotonic() -> int:
        now["ns"] = next(delays)
        return now["ns"]

    torn = Clock(monotonic_ns=monotonic, boottime_ns=lambda: now["ns"] + 7)
    assert torn.now() == (900_000_000, 7)

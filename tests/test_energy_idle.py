"""Self-test and idle power, on counters that follow a driven clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.energy.choose import EnergyRequest, MeterChoice, open_session, recheck
from harness.energy.estimator import EstimatorMeter, Watts
from harness.energy.idle import FULL, MAX_AGE_US, QUICK, busy_ppm, busy_ticks, calibrate, idle_for, median_and_sigma
from harness.energy.meter import Meter, OffMeter
from harness.energy.rapl import open_rapl
from harness.energy.records import EnergyFlag, IdleBaseline, Provenance
from harness.energy.selftest import self_test, tuned
from harness.errors import InfraError
from tests.energy_rig import HOST, WATT, Powercap, Time

WINDOWS_UW = [50_100_000, 49_800_000, 50_300_000, 49_900_000, 50_000_000, 50_200_000, 49_700_000, 50_000_000]


class Host:
    """One socket whose power is a function of time, and a processor busy as told."""

    def __init__(self, folder: Path, power_uw: Callable[[float], int], busy_percent: int = 1) -> None:
        self.tree = Powercap(folder / "powercap")
        self.tree.add("intel-rapl:0", "package-0", 1_000_000)
        self.sources = self.tree.sources()
        self.time = Time()
        self.power_uw = power_uw
        self.busy_percent = busy_percent
        self._begun = self.time.now_ns
        self._carry = 0
        self._ticks = [0, 0]
        self.time.followers.append(self.follow)

    def follow(self, step_ns: int) -> None:
        at = (self.time.now_ns - self._begun) / 1e9
        picojoules = self._carry + self.power_uw(at) * step_ns // 1000
        self.tree.set("intel-rapl:0", self.tree.get("intel-rapl:0") + picojoules // 10**6)
        self._carry = picojoules % 10**6
        self._ticks[0] += step_ns * self.busy_percent // 100
        self._ticks[1] += step_ns * (100 - self.busy_percent) // 100
        busy, idle = self._ticks
        (self.sources.proc / "stat").write_text(f"cpu  {busy} 0 0 {idle} 0 0 0 0 7 7\n")

    @property
    def meter(self) -> Meter:
        meter = open_rapl(self.tree.root, self.sources.proc / "cpuinfo")
        assert not hasattr(meter, "why")
        return meter  # type: ignore[return-value]

    def calibrate(self, *, quick: bool = False) -> IdleBaseline:
        plan = QUICK if quick else FULL
        return calibrate(self.meter, HOST, plan, self.time.clock, self.sources.proc / "stat")


def in_windows(at: float) -> int:
    """The vector's powers, one for each 10 s window after settling."""
    return WINDOWS_UW[min(max(int((at - 10.05) // 10), 0), 7)]


def test_median_and_spread() -> None:
    assert median_and_sigma(WINDOWS_UW) == (50_000_000, 222_390)


def test_a_quiet_host_is_calibrated(tmp_path: Path) -> None:
    idle = Host(tmp_path, lambda _: 50 * WATT).calibrate()
    assert idle.power_uw is not None
    assert abs(idle.power_uw - 50 * WATT) <= 10
    assert len(idle.windows_uw) == 8
    assert (idle.window_us, idle.quick, idle.flags, idle.zone_set) == (10_000_000, False, (), "cpu-package")
    assert idle.busy_ppm == 10_000
    assert idle.host_fingerprint == HOST


def test_the_windows_follow_the_power(tmp_path: Path) -> None:
    idle = Host(tmp_path, in_windows).calibrate()
    assert idle.power_uw is not None
    assert abs(idle.power_uw - 50 * WATT) < 100_000
    assert 100_000 < idle.sigma_uw < 300_000
    assert idle.flags == ()


def test_one_loud_window_moves_nothing(tmp_path: Path) -> None:
    idle = Host(tmp_path, lambda at: 400 * WATT if 31 < at < 40 else 50 * WATT).calibrate()
    assert idle.power_uw is not None
    assert abs(idle.power_uw - 50 * WATT) <= 10
    assert max(idle.windows_uw) > 300 * WATT
    assert idle.flags == ()


def test_a_busy_host_is_flagged(tmp_path: Path) -> None:
    assert Host(tmp_path, lambda _: 50 * WATT, busy_percent=5).calibrate().flags == (EnergyFlag.NOISY_HOST,)


def test_an_unsteady_host_is_flagged(tmp_path: Path) -> None:
    idle = Host(tmp_path, lambda at: 40 * WATT + int(at) * WATT).calibrate()
    assert idle.flags == (EnergyFlag.NOISY_HOST,)


def test_a_quick_calibration_takes_2_s_and_says_so(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    before = host.time.now_ns
    idle = host.calibrate(quick=True)
    assert idle.quick
    assert 2.0 <= (host.time.now_ns - before) / 1e9 < 2.1


def test_a_failing_counter_gives_a_reason_and_no_figure(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    meter = host.meter
    host.time.followers.clear()
    (host.tree.root / "intel-rapl:0" / "energy_uj").unlink()
    idle = calibrate(meter, HOST, QUICK, host.time.clock, host.sources.proc / "stat")
    assert idle.power_uw is None
    assert idle.reason == "a reading failed during the idle calibration"


def test_meters_that_measure_nothing_are_not_calibrated() -> None:
    time = Time()
    for meter in (EstimatorMeter(Watts("15", "default")), OffMeter()):
        before = time.now_ns
        idle = calibrate(meter, HOST, FULL, time.clock)
        assert idle.power_uw is None
        assert time.now_ns == before


# ------------------------------------------------------------------------------------------------------------ the cache


def cached(host: Host, folder: Path, *, quick: bool = False) -> IdleBaseline:
    plan = QUICK if quick else FULL
    stat = host.sources.proc / "stat"
    return idle_for(host.meter, HOST, plan, folder=folder, clock=host.time.clock, stat=stat)


def test_a_calibration_is_kept_for_seven_days(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    first = cached(host, tmp_path / "cache")
    host.time.epoch_ns = first.measured_us * 1000 + MAX_AGE_US * 1000
    assert cached(host, tmp_path / "cache") == first
    host.time.epoch_ns += 1000
    assert cached(host, tmp_path / "cache") != first


def test_one_from_the_future_is_not_believed(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    first = cached(host, tmp_path / "cache")
    host.time.epoch_ns = first.measured_us * 1000 - 1000
    assert cached(host, tmp_path / "cache").measured_us != first.measured_us


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"power_uw": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_calibrated_anew(tmp_path: Path, damage: bytes) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    cached(host, tmp_path / "cache", quick=True)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(damage)
    assert cached(host, tmp_path / "cache", quick=True).power_uw is not None
    assert path.read_bytes() != damage


def test_a_quick_one_does_not_stand_in_for_a_full_one(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    quick = cached(host, tmp_path / "cache", quick=True)
    assert cached(host, tmp_path / "cache", quick=True) == quick
    full = cached(host, tmp_path / "cache")
    assert not full.quick
    assert cached(host, tmp_path / "cache", quick=True) == full


def test_a_noisy_one_is_not_kept(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT, busy_percent=50)
    cached(host, tmp_path / "cache", quick=True)
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    (tmp_path / "cache").write_text("")
    with pytest.raises(InfraError):
        cached(host, tmp_path / "cache", quick=True)


def test_opening_a_session_and_rechecking_it(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda at: 50 * WATT if at < 10 else 60 * WATT)
    request = EnergyRequest(MeterChoice.RAPL, Watts("15", "default"))
    session = open_session(request, tmp_path / "cache", host.time.clock, host.sources)
    assert session.idle.quick
    assert session.idle.power_uw is not None
    bracket = session.bracket()
    bracket.start()
    host.time.advance(20)
    record, _ = bracket.stop()
    assert record.flags == (EnergyFlag.QUICK_IDLE,)
    after = recheck(session, host.sources)
    assert after.power_uw is not None
    assert after.power_uw > 55 * WATT
    again = open_session(request, tmp_path / "cache", host.time.clock, host.sources)
    assert again.idle == session.idle


# -------------------------------------------------------------------------------------------------------- the self-test


def test_the_update_period_is_the_median_of_the_changes(tmp_path: Path) -> None:
    tree = Powercap(tmp_path / "powercap")
    tree.add("intel-rapl:0", "package-0", 0)
    time = Time()

    def refresh(_: int) -> None:
        milliseconds = time.now_ns // 1_000_000
        tree.set("intel-rapl:0", milliseconds // 5 * 1000)

    time.followers.append(refresh)
    meter = open_rapl(tree.root, tree.root / "none")
    assert not hasattr(meter, "why")
    test = self_test(meter, time.clock)  # type: ignore[arg-type]
    assert abs(test.update_us["package-0"] - 5000) <= 200
    assert test.flags == {}


def test_a_frozen_package_makes_the_sum_unavailable(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    host.tree.add("intel-rapl:1", "package-1", 77)
    host.time.least_sleep_ns = 10_000_000
    before = host.time.now_ns
    test = self_test(host.meter, host.time.clock)
    assert 2.0 <= (host.time.now_ns - before) / 1e9 < 2.1
    assert test.flags == {"package-1": (EnergyFlag.FROZEN,)}
    zones = tuned(host.meter.zones(), test.update_us, test.flags)
    assert [zone.provenance for zone in zones] == [Provenance.COUNTER, Provenance.UNAVAILABLE]
    assert host.calibrate(quick=True).power_uw is None


def test_frozen_dram_leaves_the_zone_set(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    host.tree.add("intel-rapl:0:0", "dram", 0)
    host.time.least_sleep_ns = 10_000_000
    idle = host.calibrate(quick=True)
    assert idle.zone_set == "cpu-package"
    assert idle.power_uw is not None
    assert idle.zone_flags == {"package-0/dram": (EnergyFlag.FROZEN,)}


def test_a_zone_that_is_not_summed_is_not_tested(tmp_path: Path) -> None:
    host = Host(tmp_path, lambda _: 50 * WATT)
    host.tree.add("intel-rapl:1", "psys", 0)
    before = host.time.now_ns
    assert self_test(host.meter, host.time.clock).flags == {}
    assert host.time.now_ns - before < 100_000_000


def test_busy_share(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  10 0 10 70 10 0 0 0 5 5\ncpu0 1 1 1 1\n")
    before = busy_ticks(stat)
    assert before == (20, 100)
    assert busy_ppm(before, (25, 200)) == 50_000
    assert busy_ppm(before, before) is None
    assert busy_ppm(None, before) is None
    assert busy_ticks(tmp_path / "absent") is None

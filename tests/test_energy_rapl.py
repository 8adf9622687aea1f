"""RAPL on a powercap tree in a folder: discovery, double counting, wraps, resets, files that can't be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.energy.bracket import Session
from harness.energy.choose import EnergyRequest, MeterChoice, choose, survey
from harness.energy.estimator import Watts
from harness.energy.meter import Gap, Unavailable, set_of
from harness.energy.rapl import RaplMeter, open_rapl
from harness.energy.records import EnergyFlag, IdleBaseline, Provenance, ZoneKind
from harness.errors import UserError
from tests.energy_rig import RANGE_UJ, WATT, Powercap, Time

NOBODY = 65534


@pytest.fixture
def tree(tmp_path: Path) -> Powercap:
    return Powercap(tmp_path / "powercap")


def opened(tree: Powercap) -> RaplMeter:
    meter = open_rapl(tree.root, tree.sources().proc / "cpuinfo")
    assert isinstance(meter, RaplMeter), meter
    return meter


def refused(tree: Powercap) -> Unavailable:
    meter = open_rapl(tree.root, tree.sources().proc / "cpuinfo")
    assert isinstance(meter, Unavailable), meter
    return meter


def session_over(meter: RaplMeter, time: Time, watts: int = 0) -> Session:
    idle = IdleBaseline(
        host_fingerprint="sha256:" + "00" * 32,
        zone_set=set_of(meter.zones()),
        power_uw=watts * WATT,
        windows_uw=(watts * WATT,) * 8,
        quick=False,
        measured_us=0,
    )
    return Session(meter, idle, time.clock)


def two_sockets(tree: Powercap) -> None:
    """Two sockets numbered against their folders, each with sub-zones, a platform zone and the memory-mapped twins."""
    tree.add("intel-rapl:0", "package-1", 1000, limit=250 * WATT)
    tree.add("intel-rapl:0:0", "dram", 2000, span=65712999613)
    tree.add("intel-rapl:1", "package-0", 3000)
    tree.add("intel-rapl:1:0", "core", 4000)
    tree.add("intel-rapl:1:1", "uncore", 5000)
    tree.add("intel-rapl:1:2", "dram", 6000, span=65712999613)
    tree.add("intel-rapl:2", "psys", 7000)
    tree.add("intel-rapl-mmio:0", "package-0", 3000)
    (tree.root / "intel-rapl").mkdir()
    (tree.root / "dtpm").mkdir()


def test_zones_are_found_by_name(tree: Powercap) -> None:
    two_sockets(tree)
    meter = opened(tree)
    assert dict(meter.read()) == {
        "package-0": 3000,
        "package-0/core": 4000,
        "package-0/dram": 6000,
        "package-0/uncore": 5000,
        "package-1": 1000,
        "package-1/dram": 2000,
        "psys": 7000,
    }
    assert [zone.name for zone in meter.zones() if zone.kind.counted] == [
        "package-0",
        "package-0/dram",
        "package-1",
        "package-1/dram",
    ]
    assert set_of(meter.zones()) == "cpu-package+dram"
    assert any(
        "intel-rapl-mmio:0 left out: the same counter as intel-rapl:1" in note for note in meter.describe().notes
    )


def test_each_zone_has_its_own_range_unit_and_peak(tree: Powercap) -> None:
    two_sockets(tree)
    tree.add("intel-rapl:3", "package-2", limit=900 * WATT, span=65532610987)
    zones = {zone.name: zone for zone in opened(tree).zones()}
    assert (zones["package-0"].range_uj, zones["package-0"].unit_uj) == (RANGE_UJ, 61)
    assert (zones["package-0/dram"].range_uj, zones["package-0/dram"].unit_uj) == (65712999613, 15)
    assert zones["package-1"].peak_uw == 1000 * WATT
    assert zones["package-2"].peak_uw == 1800 * WATT
    assert {zone.provenance for zone in zones.values()} == {Provenance.COUNTER}


def test_a_memory_mapped_zone_counts_where_it_is_alone(tree: Powercap) -> None:
    tree.add("intel-rapl-mmio:0", "package-0", 42)
    assert dict(opened(tree).read()) == {"package-0": 42}


def test_nested_folders_are_one_zone_each(tree: Powercap) -> None:
    """The class folder lists links beside the nested device folders: the same zones again."""
    tree.add("intel-rapl/intel-rapl:0", "package-0", 10)
    tree.add("intel-rapl/intel-rapl:0/intel-rapl:0:0", "dram", 20)
    (tree.root / "intel-rapl:0").symlink_to(tree.root / "intel-rapl" / "intel-rapl:0")
    (tree.root / "intel-rapl:0:0").symlink_to(tree.root / "intel-rapl" / "intel-rapl:0" / "intel-rapl:0:0")
    assert dict(opened(tree).read()) == {"package-0": 10, "package-0/dram": 20}


def test_two_dies_are_two_packages(tree: Powercap) -> None:
    tree.add("intel-rapl:0", "package-0-die-0", 10)
    tree.add("intel-rapl:1", "package-0-die-1", 20)
    assert dict(opened(tree).read()) == {"package-0-die-0": 10, "package-0-die-1": 20}


def test_of_amd_only_the_packages_count(tree: Powercap) -> None:
    tree.add("intel-rapl:0", "package-0", 10)
    tree.add("intel-rapl:0:0", "core", 20)
    cpuinfo = tree.root.parent / "cpuinfo-amd"
    cpuinfo.write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\n")
    meter = open_rapl(tree.root, cpuinfo)
    assert isinstance(meter, RaplMeter)
    assert [zone.kind for zone in meter.zones()] == [ZoneKind.PACKAGE]


def test_an_unknown_zone_is_left_out_with_a_note(tree: Powercap) -> None:
    tree.add("intel-rapl:0", "package-0", 10)
    tree.add("intel-rapl:1", "mystery", 10)
    assert any("'mystery'" in note for note in opened(tree).describe().notes)
    assert len(opened(tree).zones()) == 1


@pytest.mark.parametrize("text", ["", "many", "-5", "1.5", "٣", "9" * 30])
def test_a_malformed_counter_is_a_gap(tree: Powercap, text: str) -> None:
    folder = tree.add("intel-rapl:0", "package-0", 10)
    meter = opened(tree)
    (folder / "energy_uj").write_text(text)
    assert meter.read()["package-0"] is Gap.MALFORMED


def test_a_counter_that_fails_or_goes_is_a_gap(tree: Powercap) -> None:
    folder = tree.add("intel-rapl:0", "package-0", 10)
    meter = opened(tree)
    (folder / "energy_uj").unlink()
    assert meter.read()["package-0"] is Gap.GONE
    (folder / "energy_uj").symlink_to(
        "/proc/self/mem"
    )  # the kernel answers EIO at address 0, as RAPL does when it fails
    assert meter.read()["package-0"] is Gap.IO_ERROR
    (folder / "energy_uj").unlink()
    (folder / "energy_uj").mkdir()
    assert meter.read()["package-0"] is Gap.IO_ERROR


def test_without_powercap_the_meter_says_so(tree: Powercap) -> None:
    assert "no CPU package counter" in refused(tree).why
    tree.add("intel-rapl:0", "psys", 10)
    assert "no CPU package counter" in refused(tree).why
    assert "no CPU package counter" in getattr(open_rapl(tree.root / "absent"), "why", "")


def test_one_unreadable_package_makes_the_meter_unavailable(tree: Powercap) -> None:
    tree.add("intel-rapl:0", "package-0", 10)
    folder = tree.add("intel-rapl:1", "package-1", 10)
    (folder / "energy_uj").unlink()
    (folder / "energy_uj").symlink_to("/proc/self/mem")
    assert "package-1 can't be read (io_error)" in refused(tree).why


def test_unreadable_dram_leaves_the_zone_set(tree: Powercap) -> None:
    tree.add("intel-rapl:0", "package-0", 10)
    folder = tree.add("intel-rapl:0:0", "dram", 10)
    (folder / "energy_uj").unlink()
    meter = opened(tree)
    assert set_of(meter.zones()) == "cpu-package"
    assert any("package-0/dram left out" in note for note in meter.describe().notes)


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Root may read any file, so give root up for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_counter_for_root_only_is_refused_with_the_remedy() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        tree = Powercap(Path(folder) / "powercap")
        tree.add("intel-rapl:0", "package-0", 10)
        counter = tree.root / "intel-rapl:0" / "energy_uj"
        counter.chmod(0o400 if os.geteuid() == 0 else 0)
        with as_an_ordinary_user():
            meter = open_rapl(tree.root, tree.root / "none")
    assert isinstance(meter, Unavailable)
    assert "package-0 can't be read (permission)" in meter.why
    assert "run as root" in meter.remedy
    assert str(counter) in meter.remedy


def test_a_bracket_through_a_wrap(tree: Powercap) -> None:
    time = Time()
    tree.add("intel-rapl:0", "package-0", RANGE_UJ - 10 * WATT)
    meter = opened(tree)
    bracket = session_over(meter, time, watts=5).bracket()
    bracket.start()
    time.advance(1)
    tree.set("intel-rapl:0", 10 * WATT)
    record, _ = bracket.stop()
    assert (record.gross_uj, record.idle_uj, record.active_uj) == (20 * WATT, 5 * WATT, 15 * WATT)
    assert record.provenance is Provenance.COUNTER
    assert record.zone_set == "cpu-package"
    assert record.wall_us == WATT


def test_a_bracket_with_no_range_books_rises_and_refuses_falls(tree: Powercap) -> None:
    time = Time()
    folder = tree.add("intel-rapl:0", "package-0", 4_000_000_000, span=None)
    assert not (folder / "max_energy_range_uj").exists()
    session = session_over(opened(tree), time)
    bracket = session.bracket()
    bracket.start()
    time.advance(1)
    tree.set("intel-rapl:0", 4_000_000_500)
    assert bracket.stop().record.gross_uj == 500
    bracket = session.bracket()
    bracket.start()
    time.advance(1)
    tree.set("intel-rapl:0", 10_000)
    record = bracket.stop().record
    assert record.gross_uj is None
    assert EnergyFlag.COUNTER_RESET in record.flags


def test_a_bracket_over_sleep_is_a_gap(tree: Powercap) -> None:
    time = Time()
    tree.add("intel-rapl:0", "package-0", 10)
    bracket = session_over(opened(tree), time).bracket()
    bracket.start()
    time.advance(1)
    time.suspend(3600)
    tree.set("intel-rapl:0", 1000)
    record = bracket.stop().record
    assert record.gross_uj is None
    assert record.wall_us == WATT
    assert EnergyFlag.SUSPENDED in record.flags


def test_a_bracket_whose_counter_fails_at_the_end(tree: Powercap) -> None:
    time = Time()
    folder = tree.add("intel-rapl:0", "package-0", 10)
    bracket = session_over(opened(tree), time).bracket()
    bracket.start()
    time.advance(1)
    (folder / "energy_uj").unlink()
    record, readings = bracket.stop()
    assert record.gross_uj is None
    assert record.missing["gross_uj"] == "part of the window is unknown"
    assert b'"gaps":{"package-0":"gone"}' in readings


def test_psys_core_and_uncore_are_recorded_and_never_summed(tree: Powercap) -> None:
    time = Time()
    two_sockets(tree)
    bracket = session_over(opened(tree), time).bracket()
    bracket.start()
    time.advance(1)
    for folder in sorted(path.name for path in tree.root.iterdir() if ":" in path.name):
        tree.set(folder, tree.get(folder) + 1000)
    record = bracket.stop().record
    assert record.gross_uj == 4000
    assert {energy.zone.name: energy.energy_uj for energy in record.zones if not energy.counted} == {
        "package-0/core": 1000,
        "package-0/uncore": 1000,
        "psys": 1000,
    }


def test_a_gap_in_an_uncounted_zone_spoils_nothing(tree: Powercap) -> None:
    time = Time()
    tree.add("intel-rapl:0", "package-0", 10)
    psys = tree.add("intel-rapl:1", "psys", 10)
    bracket = session_over(opened(tree), time).bracket()
    bracket.start()
    time.advance(1)
    tree.set("intel-rapl:0", 50 * WATT)
    (psys / "energy_uj").unlink()
    record = bracket.stop().record
    assert record.gross_uj == 50 * WATT - 10
    assert EnergyFlag.READ_GAP not in record.flags


def test_choosing_rapl(tree: Powercap) -> None:
    watts = Watts("15", "default")
    request = EnergyRequest(MeterChoice.RAPL, watts)
    with pytest.raises(UserError, match=r"^--energy rapl: no CPU package counter .*; .*--energy estimator$"):
        choose(request, tree.sources())
    tree.add("intel-rapl:0", "package-0", 10)
    assert choose(request, tree.sources()).name == "rapl"
    lines = {line.name: line for line in survey(watts, tree.sources())}
    assert lines["rapl"].available
    assert "sums cpu-package" in lines["rapl"].detail
    assert set(lines) == {"rapl", "nvml", "ioreport", "estimator"}
    assert not lines["ioreport"].available
    assert "not supported" in lines["ioreport"].detail

"""NVML through the real ``pynvml`` on a stand-in for the vendor's library, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")
WATT = 1_000_000
JOULE = 1_000_000
NOT_SUPPORTED, GPU_IS_LOST, UNKNOWN = "!3", "!15", "!999"

BACKENDS = ["callbacks", *(["library"] if COMPILER else [])]
"""The compiled library where there is a compiler; the ctypes twin everywhere, so that nothing is ever left untested."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvml")
    if COMPILER:
        target = folder / "libnvidia-ml.so.1"
        subprocess.run(
            [COMPILER, "-shared", "-fPIC", "-Wall", "-Werror", "-o", target, HERE / "nvml_stub.c"],
            check=True,
            timeout=60,
        )
    return folder


class Probe:
    """A process that answers scenarios, each with a driver in a given state."""

    def __init__(self, backend: str, library: Path, folder: Path) -> None:
        environ = os.environ | {"NVML_STUB": str(folder / "state"), "LD_LIBRARY_PATH": str(library)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.energy_nvml_probe", backend],
            env=environ,
            cwd=HERE.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, state: dict[str, object], *scenario: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([state, *scenario]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the probe died: its traceback is on stderr"
        return json.loads(answer)

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module", params=BACKENDS)
def probe(request: pytest.FixtureRequest, library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probe]:
    probe = Probe(request.param, library, tmp_path_factory.mktemp("driver"))
    yield probe
    probe.close()


def board(**changes: object) -> dict[str, object]:
    """A driver with one modern board."""
    state: dict[str, object] = {
        "count": 1,
        "name0": "NVIDIA H200",
        "energy0": 5_000_000,
        "power0": 300_000,
        "instant0": 310_000,
        "limit0": 700_000,
        "mig0": 0,
        "virtual0": 0,
    }
    state |= changes
    return {key: value for key, value in state.items() if value is not None}


def test_the_energy_counter_is_read_where_there_is_one(probe: Probe) -> None:
    seen = probe(board(), "open")
    (zone,) = seen["zones"]
    assert (zone["name"], zone["kind"], zone["provenance"]) == ("gpu-0", "gpu", "counter")
    assert (zone["unit_uj"], zone["range_uj"], zone["peak_uw"]) == (1000, None, 1400 * WATT)
    assert seen["values"] == {"gpu-0": 5_000 * JOULE}
    assert seen["powers"] == [310 * WATT]
    assert seen["notes"] == ["gpu-0 NVIDIA H200: counter"]


def test_without_a_counter_power_is_integrated_and_says_so(probe: Probe) -> None:
    (zone,) = probe(board(energy0=NOT_SUPPORTED), "open")["zones"]
    assert (zone["provenance"], zone["window_us"]) == ("integrated", 0)
    record = probe(board(energy0=None, instant0=100_000), "bracket", {"instant0": 200_000}, 1)
    assert record["gross_uj"] == 150 * JOULE
    assert record["provenance"] == "integrated"
    assert record["zone_set"] == "gpu"


def test_power_is_not_extrapolated_over_a_hole(probe: Probe) -> None:
    record = probe(board(energy0=None), "bracket", {"instant0": 200_000}, 20)
    assert record["gross_uj"] is None
    assert "read_gap" in record["flags"]


def test_averaged_power_has_its_window(probe: Probe) -> None:
    seen = probe(board(energy0=None, instant0=None), "open")
    assert seen["zones"][0]["window_us"] == WATT
    assert seen["values"] == {"gpu-0": 300 * WATT}


def test_a_board_that_tells_nothing_is_unavailable_and_not_zero(probe: Probe) -> None:
    seen = probe(board(energy0=None, power0=None, instant0=None), "open")
    assert seen["unavailable"] == "gpu-0 (NVIDIA H200) tells neither energy nor power (not_supported)"


def test_one_silent_board_of_two_makes_the_meter_unavailable(probe: Probe) -> None:
    seen = probe(board(count=2, name1="Old"), "open")
    assert "gpu-1 (Old)" in seen["unavailable"]


def test_a_split_or_lent_board_is_unavailable(probe: Probe) -> None:
    seen = probe(board(mig0=1), "open")
    assert "split by MIG" in seen["unavailable"]
    assert seen["remedy"]
    assert "virtual GPU" in probe(board(virtual0=2), "open")["unavailable"]
    assert "zones" in probe(board(virtual0=1), "open")
    assert "zones" in probe(board(mig0=None, virtual0=None), "open")


def test_a_module_counter_is_flagged(probe: Probe) -> None:
    (zone,) = probe(board(name0="NVIDIA GH200 480GB"), "open")["zones"]
    assert zone["flags"] == ["module_scope"]


def test_a_driver_that_fails_is_unavailable(probe: Probe) -> None:
    assert "no NVIDIA driver answers" in probe(board(init=UNKNOWN), "open")["unavailable"]
    assert "the driver failed" in probe(board(count=UNKNOWN), "open")["unavailable"]
    assert "lists no GPU" in probe(board(count=0), "open")["unavailable"]


def test_a_bracket_on_a_counter(probe: Probe) -> None:
    record = probe(board(), "bracket", {"energy0": 5_006_000})
    assert record["active_uj"] == 6 * JOULE
    assert record["provenance"] == "counter"
    assert record["reliable"]


def test_a_reloaded_driver_is_a_reset(probe: Probe) -> None:
    record = probe(board(), "bracket", {"energy0": 12})
    assert record["gross_uj"] is None
    assert "counter_reset" in record["flags"]


def test_a_lost_board_is_a_gap(probe: Probe) -> None:
    record = probe(board(), "bracket", {"energy0": GPU_IS_LOST, "power0": GPU_IS_LOST})
    assert record["gross_uj"] is None
    assert record["at_least_uj"] == 0
    assert record["flags"][0] == "read_gap"


def test_the_counter_is_checked_against_the_power(probe: Probe) -> None:
    agreeing = probe(board(), "test", 200_000, 210_000)
    assert agreeing["update_us"] == {"gpu-0": 50_000}
    assert agreeing["flags"] == {}
    assert abs(agreeing["idle_uw"] - 200 * WATT) < 45 * WATT
    # seen in the wild: 187 J counted and 327 J integrated over one window
    disagreeing = probe(board(), "test", 187_000, 327_000)
    assert disagreeing["flags"] == {"gpu-0": ["counter_disagrees"]}
    assert disagreeing["zone_flags"] == {"gpu-0": ["counter_disagrees"]}
    assert probe(board(energy0=1000), "test", 0, 300_000)["flags"] == {"gpu-0": ["frozen"]}


def test_auto_and_measured_take_both_counters(probe: Probe) -> None:
    for choice in ("auto", "measured"):
        seen = probe(board(), "choose", choice, True)
        assert seen["name"] == "rapl+nvml"
        assert seen["zones"] == ["package-0", "gpu-0"]
        assert seen["survey"]["nvml"] == [True, "gpu; gpu-0 NVIDIA H200: counter"]


def test_without_counters_auto_estimates_and_measured_is_an_error(probe: Probe) -> None:
    assert probe(board(count=0), "choose", "auto", False)["name"] == "estimator"
    error = probe(board(count=0), "choose", "measured", False)["error"]
    assert error.startswith("--energy measured: no energy counter reads here (rapl: no CPU package counter")
    assert "nvml: the driver lists no GPU" in error
    assert probe(board(mig0=1), "choose", "nvml", False)["error"].startswith(
        "--energy nvml: gpu-0 (NVIDIA H200) is split"
    )


def test_without_the_library_the_meter_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"not a library")
    probe = Probe("library", tmp_path, tmp_path)
    seen = probe(board(), "open")
    probe.close()
    assert "no NVIDIA driver answers" in seen["unavailable"]
    assert seen["remedy"]

"""Runs in a process of its own: the NVML meter through the real ``pynvml``, over a stand-in for the vendor's library.

``python -m tests.energy_nvml_probe BACKEND`` answers each line of stdin, ``[driver state, scenario, arguments...]``,
with one line of JSON. The backend ``library`` lets ``pynvml`` load whatever ``libnvidia-ml.so.1`` the loader finds (the
compiled ``nvml_stub.c``); ``callbacks`` gives it the same answers from C function pointers made by ctypes, for machines
without a compiler.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, c_char, c_int, c_uint, c_ulonglong, c_void_p, cast, memmove
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml

from harness.energy.bracket import Session
from harness.energy.choose import EnergyRequest, MeterChoice, choose, survey
from harness.energy.estimator import Watts
from harness.energy.idle import QUICK, calibrate
from harness.energy.meter import Unavailable
from harness.energy.nvml import open_nvml
from harness.energy.records import IdleBaseline
from harness.energy.selftest import self_test
from harness.errors import UserError
from tests.energy_rig import HOST, Powercap, Time

STATE = Path(os.environ["NVML_STUB"])
SUCCESS, NOT_SUPPORTED = 0, 3


def state() -> dict[str, str]:
    return dict(line.split(" ", 1) for line in STATE.read_text().splitlines())


def change(**values: object) -> None:
    merged = state() | {key: str(value) for key, value in values.items()}
    fresh = STATE.with_suffix(".new")
    fresh.write_text("".join(f"{key} {value}\n" for key, value in merged.items()))
    fresh.replace(STATE)


# --------------------------------------------------------------------------------- the same stub, without a compiler


def answer(key: str) -> tuple[int, str]:
    text = state().get(key)
    if text is None:
        return NOT_SUPPORTED, ""
    return (int(text[1:]), "") if text.startswith("!") else (SUCCESS, text)


def number(key: str, kind: Any) -> Callable[..., int]:
    def call(device: int, out: int, *_: int) -> int:
        code, text = answer(f"{key}{device - 1}")
        if code == SUCCESS:
            cast(out, POINTER(kind))[0] = int(text)
        return code

    return call


def name(device: int, out: int, length: int) -> int:
    code, text = answer(f"name{device - 1}")
    memmove(out, text.encode() + b"\0", min(len(text) + 1, length))
    return code


def count(out: int) -> int:
    code, text = answer("count")
    cast(out, POINTER(c_uint))[0] = int(text or 0)
    return code


def handle(index: int, out: int) -> int:
    cast(out, POINTER(c_void_p))[0] = index + 1
    return SUCCESS


def fields(device: int, length: int, out: int) -> int:
    values = cast(out, POINTER(pynvml.c_nvmlFieldValue_t))
    for index in range(length):
        known = values[index].fieldId == 186 and values[index].scopeId == 0
        code, text = answer(f"instant{device - 1}") if known else (NOT_SUPPORTED, "")
        values[index].nvmlReturn = code
        values[index].value.uiVal = int(text or 0)
    return SUCCESS


def start(flags: int) -> int:
    code, _ = answer("init")
    return SUCCESS if code == NOT_SUPPORTED and flags == 0 else code


def callbacks() -> SimpleNamespace:
    device_out = CFUNCTYPE(c_int, c_void_p, c_void_p)
    device_two = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
    return SimpleNamespace(
        nvmlInitWithFlags=CFUNCTYPE(c_int, c_uint)(start),
        nvmlShutdown=CFUNCTYPE(c_int)(lambda: SUCCESS),
        nvmlDeviceGetCount_v2=CFUNCTYPE(c_int, c_void_p)(count),
        nvmlDeviceGetHandleByIndex_v2=CFUNCTYPE(c_int, c_uint, c_void_p)(handle),
        nvmlDeviceGetName=CFUNCTYPE(c_int, c_void_p, POINTER(c_char), c_uint)(
            lambda device, out, length: name(device, cast(out, c_void_p).value or 0, length)
        ),
        nvmlDeviceGetMigMode=device_two(number("mig", c_uint)),
        nvmlDeviceGetVirtualizationMode=device_out(number("virtual", c_ulonglong)),
        nvmlDeviceGetTotalEnergyConsumption=device_out(number("energy", c_ulonglong)),
        nvmlDeviceGetPowerUsage=device_out(number("power", c_uint)),
        nvmlDeviceGetEnforcedPowerLimit=device_out(number("limit", c_uint)),
        nvmlDeviceGetFieldValues=CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)(fields),
    )


# ------------------------------------------------------------------------------------------------------- the scenarios


def opened() -> dict[str, Any]:
    meter = open_nvml()
    if isinstance(meter, Unavailable):
        return {"unavailable": meter.why, "remedy": meter.remedy}
    first = dict(meter.read())
    zones = [zone.model_dump(mode="json") for zone in meter.zones()]
    powers = [meter.power_uw(zone.name) for zone in meter.zones()]
    meter.close()
    return {"zones": zones, "values": first, "powers": powers, "notes": meter.describe().notes}


def bracketed(after: dict[str, object], seconds: int = 20) -> dict[str, Any]:
    """One bracket during which the driver's state changes to *after*."""
    meter = open_nvml()
    assert not isinstance(meter, Unavailable), meter
    time = Time()
    idle = IdleBaseline(
        host_fingerprint=HOST, zone_set="gpu", power_uw=0, windows_uw=(0,) * 8, quick=False, measured_us=0
    )
    bracket = Session(meter, idle, time.clock).bracket()
    bracket.start()
    time.advance(seconds)
    change(**after)
    record, _ = bracket.stop()
    return record.model_dump(mode="json")


def tested(counter_mw: int, power_mw: int) -> dict[str, Any]:
    """The self-test and an idle calibration, on a counter that runs at one power while the board tells another."""
    meter = open_nvml()
    assert not isinstance(meter, Unavailable), meter
    time = Time(least_sleep_ns=10_000_000)
    begun = time.now_ns

    def refresh(_: int) -> None:
        ticks = (time.now_ns - begun) // 50_000_000
        change(energy0=1000 + ticks * counter_mw // 20, instant0=power_mw)

    time.followers.append(refresh)
    test = self_test(meter, time.clock)
    idle = calibrate(meter, HOST, QUICK, time.clock)
    return {"update_us": test.update_us, "flags": test.flags, "idle_uw": idle.power_uw, "zone_flags": idle.zone_flags}


def chosen(choice: str, rapl: bool) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(dir=STATE.parent))
    tree = Powercap(folder / "powercap")
    if rapl:
        tree.add("intel-rapl:0", "package-0")
    sources = tree.sources()
    watts = Watts("15", "default")
    try:
        meter = choose(EnergyRequest(MeterChoice(choice), watts), sources)
    except UserError as error:
        return {"error": str(error)}
    return {
        "name": meter.name,
        "zones": [zone.name for zone in meter.zones()],
        "survey": {line.name: [line.available, line.detail] for line in survey(watts, sources)},
    }


SCENARIOS: dict[str, Callable[..., dict[str, Any]]] = {
    "open": opened,
    "bracket": bracketed,
    "test": tested,
    "choose": chosen,
}


def main(backend: str) -> None:
    if backend == "callbacks":
        pynvml.nvmlLib = callbacks()
    for line in sys.stdin:
        driver, scenario, *arguments = json.loads(line)
        STATE.write_text("".join(f"{key} {value}\n" for key, value in driver.items()))
        sys.stdout.write(json.dumps(SCENARIOS[scenario](*arguments)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""NVML: NVIDIA's GPU energy counters, by way of the vendor's ``nvidia-ml-py`` (module ``pynvml``).

A board's total energy counter (Volta and later, millijoules since the driver was loaded) is read where there is one;
else its power is sampled and integrated, and says ``integrated``. A board that is split (MIG) or lent (vGPU) has no
energy of its own, and one unreadable board makes the meter unavailable: a sum over some of a host's GPUs compares with
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pynvml

from harness.energy.meter import Gap, MeterInfo, Unavailable, Values
from harness.energy.records import EnergyFlag, Provenance, Zone, ZoneKind

_COUNTER_UPDATE_US = 100_000
"""Counters were seen to refresh every 20 to 100 ms; the self-test measures it."""
_POWER_UPDATE_US = 100_000
_AVERAGE_WINDOW_US = 1_000_000
"""nvmlDeviceGetPowerUsage averages over one second on Ampere and later."""
_LEAST_PEAK_UW = 1_000_000_000
_MODULES = ("GH200", "GB200", "GB300")
"""Boards whose counter covers the CPU beside the GPU as well."""


@dataclass(frozen=True)
class _Board:
    handle: Any
    zone: Zone
    instant: bool


class NvmlMeter:
    """Every GPU of this host."""

    name = "nvml"

    def __init__(self, boards: tuple[_Board, ...], notes: tuple[str, ...]) -> None:
        self._boards = {board.zone.name: board for board in boards}
        self._notes = notes

    def zones(self) -> tuple[Zone, ...]:
        """``gpu-0``, ``gpu-1`` and so on."""
        return tuple(board.zone for board in self._boards.values())

    def read(self) -> Values:
        """Microjoules of a counter, microwatts where power is integrated."""
        return {name: _read(board) for name, board in self._boards.items()}

    def power_uw(self, zone: str) -> int | None:
        """The board's power now, None if it tells none."""
        board = self._boards[zone]
        power = _power_uw(board.handle, board.instant)
        return None if isinstance(power, Gap) else power

    def describe(self) -> MeterInfo:
        """The boards' names and how each is read."""
        return MeterInfo(self.name, self._notes)

    def close(self) -> None:
        """Release the library."""
        pynvml.nvmlShutdown()


def open_nvml() -> NvmlMeter | Unavailable:
    """The NVML meter of this host."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Unavailable(
            "nvml", f"no NVIDIA driver answers ({error})", "install NVIDIA's driver, or use --energy rapl or estimator"
        )
    opened = _open_boards()
    if isinstance(opened, Unavailable):
        pynvml.nvmlShutdown()
    return opened


def _open_boards() -> NvmlMeter | Unavailable:
    boards = []
    notes = []
    try:
        for index in range(pynvml.nvmlDeviceGetCount()):
            name = f"gpu-{index}"
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            model = _text(pynvml.nvmlDeviceGetName(handle))
            board = _board(name, handle, model)
            if isinstance(board, Unavailable):
                return board
            notes.append(f"{name} {model}: {board.zone.provenance.value}")
            boards.append(board)
    except pynvml.NVMLError as error:
        return Unavailable("nvml", f"the driver failed ({error})", "check `nvidia-smi`, or use another meter")
    if not boards:
        return Unavailable("nvml", "the driver lists no GPU", "check `nvidia-smi`, or use another meter")
    return NvmlMeter(tuple(boards), tuple(notes))


def _board(name: str, handle: Any, model: str) -> _Board | Unavailable:
    where = f"{name} ({model})"
    if _mig(handle):
        return Unavailable(
            "nvml", f"{where} is split by MIG, and a part has no energy of its own", "turn MIG off: nvidia-smi -mig 0"
        )
    if _lent(handle):
        return Unavailable("nvml", f"{where} is a virtual GPU without energy of its own", "run on the bare host")
    instant = _instant_uw(handle) is not None
    flags = (EnergyFlag.MODULE_SCOPE,) if any(module in model for module in _MODULES) else ()
    common = {"name": name, "kind": ZoneKind.GPU, "flags": flags, "peak_uw": _peak_uw(handle)}
    if not isinstance(_counter_uj(handle), Gap):
        zone = Zone(provenance=Provenance.COUNTER, unit_uj=1000, update_us=_COUNTER_UPDATE_US, **common)
        return _Board(handle, zone, instant)
    power = _power_uw(handle, instant)
    if not isinstance(power, Gap):
        window = 0 if instant else _AVERAGE_WINDOW_US
        zone = Zone(provenance=Provenance.INTEGRATED, update_us=_POWER_UPDATE_US, window_us=window, **common)
        return _Board(handle, zone, instant)
    return Unavailable("nvml", f"{where} tells neither energy nor power ({power.value})", "use another meter")


def _read(board: _Board) -> int | Gap:
    if board.zone.provenance is Provenance.COUNTER:
        return _counter_uj(board.handle)
    return _power_uw(board.handle, board.instant)


def _counter_uj(handle: Any) -> int | Gap:
    try:
        return int(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)) * 1000
    except pynvml.NVMLError as error:
        return _gap(error)


def _power_uw(handle: Any, instant: bool) -> int | Gap:
    if instant:
        power = _instant_uw(handle)
        return Gap.IO_ERROR if power is None else power
    try:
        return int(pynvml.nvmlDeviceGetPowerUsage(handle)) * 1000
    except pynvml.NVMLError as error:
        return _gap(error)


def _instant_uw(handle: Any) -> int | None:
    """Unaveraged power of the GPU alone (field 186, scope GPU); None where the driver has no such field."""
    try:
        answer = pynvml.nvmlDeviceGetFieldValues(
            handle, [(pynvml.NVML_FI_DEV_POWER_INSTANT, pynvml.NVML_POWER_SCOPE_GPU)]
        )[0]
    except pynvml.NVMLError:
        return None
    return int(answer.value.uiVal) * 1000 if answer.nvmlReturn == pynvml.NVML_SUCCESS else None


def _peak_uw(handle: Any) -> int:
    try:
        return max(_LEAST_PEAK_UW, 2000 * int(pynvml.nvmlDeviceGetEnforcedPowerLimit(handle)))
    except pynvml.NVMLError:
        return 2 * _LEAST_PEAK_UW


def _mig(handle: Any) -> bool:
    try:
        return bool(pynvml.nvmlDeviceGetMigMode(handle)[0] == pynvml.NVML_DEVICE_MIG_ENABLE)
    except pynvml.NVMLError:
        return False


def _lent(handle: Any) -> bool:
    try:
        mode = pynvml.nvmlDeviceGetVirtualizationMode(handle)
    except pynvml.NVMLError:
        return False
    return mode not in {pynvml.NVML_GPU_VIRTUALIZATION_MODE_NONE, pynvml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH}


def _gap(error: pynvml.NVMLError) -> Gap:
    if error.value == pynvml.NVML_ERROR_NOT_SUPPORTED:
        return Gap.NOT_SUPPORTED
    if error.value == pynvml.NVML_ERROR_NO_PERMISSION:
        return Gap.PERMISSION
    if error.value == pynvml.NVML_ERROR_GPU_IS_LOST:
        return Gap.GONE
    return Gap.IO_ERROR


def _text(name: str | bytes) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name

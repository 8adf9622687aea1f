"""Energy of an attempt: meters behind one protocol, and a bracket around the solver.

    session = open_session(EnergyRequest(...), cache_folder)
    with session.bracket(scripted=False) as bracket:
        ...  # the solver, and nothing else
    record, readings = bracket.stop()  # stopped already: this only tells

The rules, formulas and limits are in ``docs/energy.md``.
"""

from harness.energy.account import drifted, settle, verify
from harness.energy.bracket import Bracket, Measured, Session
from harness.energy.choose import (
    EnergyRequest,
    MeterChoice,
    MeterStatus,
    Sources,
    choose,
    open_session,
    recheck,
    survey,
)
from harness.energy.estimator import active_watts
from harness.energy.meter import Meter
from harness.energy.records import EnergyFlag, EnergyRecord, IdleBaseline, Provenance
from harness.energy.totals import EnergyTotals, total_energy

__all__ = [
    "Bracket",
    "EnergyFlag",
    "EnergyRecord",
    "EnergyRequest",
    "EnergyTotals",
    "IdleBaseline",
    "Measured",
    "Meter",
    "MeterChoice",
    "MeterStatus",
    "Provenance",
    "Session",
    "Sources",
    "active_watts",
    "choose",
    "drifted",
    "open_session",
    "recheck",
    "settle",
    "survey",
    "total_energy",
    "verify",
]

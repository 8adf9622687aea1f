"""Energy of an attempt: meters behind one protocol, and a bracket around the solver.

    session = open_session(EnergyRequest(...))
    with session.bracket(scripted=False) as bracket:
        ...  # the solver, and nothing else
    record, readings = bracket.stop()  # stopped already: this only tells

The rules, formulas and limits are in ``docs/energy.md``.
"""

from harness.energy.account import drifted, settle, verify
from harness.energy.bracket import Bracket, Measured, Session
from harness.energy.meter import Meter
from harness.energy.records import EnergyFlag, EnergyRecord, IdleBaseline, Provenance

__all__ = [
    "Bracket",
    "EnergyFlag",
    "EnergyRecord",
    "IdleBaseline",
    "Measured",
    "Meter",
    "Provenance",
    "Session",
    "drifted",
    "settle",
    "verify",
]

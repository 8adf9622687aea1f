"""The estimator: wall time x assumed active watts, for hosts without a counter.

Its figure is a model and says so everywhere: provenance ``modelled``, zone set ``estimate``, the watts and where they
come from on the record, and always ``~``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from harness.energy.meter import MeterInfo, Values
from harness.energy.records import Provenance, Zone, ZoneKind
from harness.errors import UserError

WATTS_VARIABLE = "JOULE_BENCH_ACTIVE_WATTS"
DEFAULT_WATTS = "15"
"""About what one busy core adds on common hosts. An assumption: the record names it as ``default``."""

_DECIMAL = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?", re.ASCII)
_ZONE = "estimate"


class Watts(NamedTuple):
    """Assumed active watts as a decimal string, and where they come from."""

    value: str
    source: str


def active_watts(option: str | None, environ: Mapping[str, str], configured: str | None = None) -> Watts:
    """The watts to assume: the option, else the environment, else the configuration, else the default.

    Raises:
        UserError: the first one given is not a positive decimal number with at most six places.
    """
    given = [
        ("--active-watts", "option", option),
        (WATTS_VARIABLE, WATTS_VARIABLE, environ.get(WATTS_VARIABLE)),
        ("active_watts", "configuration", configured),
    ]
    for where, source, text in given:
        if text is not None:
            if not _DECIMAL.fullmatch(text) or Decimal(text) == 0:
                raise UserError(
                    where, f"{text!r} is not a number of watts", "give a positive number such as 15 or 27.5"
                )
            return Watts(text, source)
    return Watts(DEFAULT_WATTS, "default")


class EstimatorMeter:
    """A constant power."""

    name = "estimator"

    def __init__(self, watts: Watts) -> None:
        self._watts = watts
        self._power_uw = int(Decimal(watts.value) * 1_000_000)

    def zones(self) -> tuple[Zone, ...]:
        """One modelled zone."""
        return (Zone(name=_ZONE, kind=ZoneKind.ESTIMATE, provenance=Provenance.MODELLED, update_us=1),)

    def read(self) -> Values:
        """The assumed power."""
        return {_ZONE: self._power_uw}

    def power_uw(self, zone: str) -> int | None:
        """None: an assumption has nothing to be checked against."""
        del zone
        return None

    def describe(self) -> MeterInfo:
        """The name, the watts and their source."""
        return MeterInfo(self.name, (), self._watts.value, self._watts.source)

    def close(self) -> None:
        """Nothing to do."""

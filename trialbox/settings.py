"""The user's own settings: ``config.toml`` in the state folder, which need not exist."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from harness.energy import active_watts
from harness.energy.estimator import Watts
from harness.gateway.access import Upstream
from harness.gateway.providers import Own, upstreams
from harness.money import Dollars, pusd
from harness.state import State
from harness.suites.parse import FileModel, parse, read_toml

CONFIG = "config.toml"


class EnergySettings(FileModel):
    """``[energy]``."""

    active_watts: Annotated[str, Field(max_length=20)] | None = None
    """What the estimator assumes one busy attempt draws, in watts, as text: ``"27.5"``."""


class SpendSettings(FileModel):
    """``[spend]``."""

    daily_cap_usd: Dollars = "10"
    """What all dispatches of a day (UTC) may cost together, in US dollars, as text: ``"25.00"``."""


class GatewaySettings(FileModel):
    """``[gateway]``."""

    container: bool = False
    """Whether it runs in a container also where the engine shares this host's kernel; elsewhere it always does."""


class PriceSettings(FileModel):
    """``[prices]``."""

    table: Annotated[str, Field(max_length=500)] | None = None
    """A price table of the user's own, by its path from the state folder, in place of the shipped ones."""


class Settings(FileModel):
    """The whole file."""

    energy: EnergySettings = EnergySettings()
    spend: SpendSettings = SpendSettings()
    prices: PriceSettings = PriceSettings()
    gateway: GatewaySettings = GatewaySettings()
    providers: Mapping[str, Own] = Field(default_factory=dict)


_SETTINGS: TypeAdapter[Settings] = TypeAdapter(Settings)


def read_settings(state: State) -> Settings:
    """The state folder's settings; without a file, what holds by default.

    Raises:
        UserError: the file is malformed.
    """
    path = state.root / CONFIG
    return parse(_SETTINGS, read_toml(path), str(path)) if path.exists() else Settings()


def watts(option: str | None, state: State) -> Watts:
    """The estimator's watts: the option, else the environment, else the settings, else the default.

    Raises:
        UserError: the first of them that is given is no number of watts, or the settings are malformed.
    """
    return active_watts(option, os.environ, read_settings(state).energy.active_watts)


def daily_cap(state: State) -> int:
    """The day's cap in picodollars.

    Raises:
        UserError: the settings are malformed.
    """
    return pusd(read_settings(state).spend.daily_cap_usd)


def gateway_in_container(state: State) -> bool:
    """Whether the gateway runs in a container wherever the engine is.

    Raises:
        UserError: the settings are malformed.
    """
    return read_settings(state).gateway.container


def providers(state: State) -> dict[str, Upstream]:
    """Every provider by name, the user's own over the known ones.

    Raises:
        UserError: the settings are malformed, or a provider in them can't be used.
    """
    return upstreams(read_settings(state).providers, str(state.root / CONFIG))


def price_table(state: State, shipped: Path) -> Path:
    """The file of the prices that hold here: the user's own, else the newest in the folder *shipped*.

    Raises:
        UserError: the settings are malformed.
    """
    own = read_settings(state).prices.table
    return state.root / own if own is not None else max(shipped.glob("*.json"), key=lambda path: path.name)

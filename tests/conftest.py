"""What every test shares: one engine, one set of images, and a check that nothing is left on the host."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import BuiltImage, ensure
from harness.engine.owned import STATE_LABEL

settings.register_profile("trialbox", deadline=None)  # a busy machine is no wrong answer
settings.load_profile("trialbox")

ROOT = Path(__file__).parent.parent
IMAGES = ("base", "python", "scanner", "typing")


def image_cache() -> Path:
    """The user's own image cache, so that a test run builds nothing twice."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trialbox" / "images"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The machine's engine, or a private one for the length of the tests."""
    with connect() as engine:
        yield engine


@pytest.fixture(scope="session")
def images(engine: Engine) -> Mapping[str, BuiltImage]:
    """The images, in the engine."""
    return {
        name: ensure(engine.api, name, cache=image_cache(), images_dir=ROOT / "images", report=print) for name in IMAGES
    }


@pytest.fixture
def owner(engine: Engine) -> Iterator[str]:
    """A label of this test's own; afterwards nothing with it may be left in the engine."""
    label = "test-" + secrets.token_hex(8)
    yield label
    query = {"label": f"{STATE_LABEL}={label}"}
    left = [one["Names"] for one in engine.api.containers(all=True, filters=query)]
    volumes = [one["Name"] for one in engine.api.volumes(filters=query)["Volumes"] or ()]
    for one in engine.api.containers(all=True, filters=query):
        engine.api.remove_container(one["Id"], force=True)
    for name in volumes:
        engine.api.remove_volume(name, force=True)
    assert (left, volumes) == ([], []), "left behind in the engine"

"""Podman's Docker-compatible socket: found, described, and used for a container's whole life."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine import mounts
from harness.engine.addresses import Surroundings
from harness.engine.client import LABEL, Engine, EngineKind
from harness.engine.connect import connect
from tests import podman
from tests.tiny_image import load_tiny_image


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    if shutil.which("podman") is None:
        podman.install()
    with podman.podman_engine(tmp_path_factory.mktemp("podman")) as connected:
        yield connected


@pytest.mark.engine
def test_podman_is_described_as_podman(engine: Engine) -> None:
    assert engine.info.kind is EngineKind.PODMAN
    assert engine.info.address.endswith("podman.sock")
    assert engine.info.same_kernel


@pytest.mark.engine
def test_a_containers_life_on_podman(engine: Engine) -> None:
    image = load_tiny_image(engine)
    api = engine.api
    made: str = api.create_container(
        image,
        ["sleep", "600"],
        labels={LABEL: "1"},
        stop_timeout=0,  # Podman 5 grants it even where removal is forced
        host_config=api.create_host_config(network_mode="none", pids_limit=64, mem_limit="64m"),
    )["Id"]
    try:
        api.start(made)
        tree = io.BytesIO()
        with tarfile.open(fileobj=tree, mode="w") as tar:
            entry = tarfile.TarInfo("note")
            entry.size = 5
            tar.addfile(entry, io.BytesIO(b"hello"))
        assert api.put_archive(made, "/", tree.getvalue())
        run = api.exec_create(made, ["sh", "-c", "cat /note; exit 7"])["Id"]
        assert api.exec_start(run) == b"hello"
        assert api.exec_inspect(run)["ExitCode"] == 7
    finally:
        api.remove_container(made, force=True)
    assert api.containers(all=True, filters={"label": LABEL}) == []


@pytest.mark.engine
def test_a_podman_service_leaves_nothing(tmp_path: Path) -> None:
    with podman.podman_service(tmp_path) as address:
        socket = Path(address.removeprefix("unix://"))
        with connect(start=False, surroundings=Surroundings(environ={"DOCKER_HOST": address})) as left:
            api = left.api
            made: str = api.create_container(load_tiny_image(left), ["sleep", "600"], labels={LABEL: "1"})["Id"]
            api.start(made)
            api.exec_start(api.exec_create(made, ["cat", "/dev/null"])["Id"])
    assert not socket.parent.exists()
    assert mounts.points(tmp_path) == []
    assert podman.processes_of(socket.parent) == []

"""Where Debian's tools run: on this host, or in a throwaway builder container."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import docker
from docker.errors import ImageNotFound, NotFound

from harness.digest import sha256_bytes
from harness.engine.client import LABEL, engine_errors
from harness.errors import InfraError, UserError

SCRIPT = Path(__file__).with_name("debian.sh")
_FOLDER = "/var/tmp/images"  # noqa: S108 - inside a container of our own
BUILDER_LABEL = "trialbox.builder"
"""The label of the containers that builds use; its value is the digest of the cache's path."""


class Workshop(Protocol):
    """A folder on some Debian-family system, and ``debian.sh`` at work in it."""

    def run(self, verb: str, *arguments: str) -> str:
        """Run a verb and return what it printed; InfraError carries the first of its complaints."""

    def put(self, name: str, path: Path) -> None:
        """Copy a file into the folder under a relative name."""

    def get(self, name: str, path: Path) -> None:
        """Move a file out of the folder; where it is missing, nothing happens."""


class HostWorkshop:
    """This very host, as the user who runs us. ``lock`` is held by the tools too, should we be killed before them."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock

    def run(self, verb: str, *arguments: str) -> str:
        command = ["/bin/sh", str(SCRIPT), verb, str(self._folder), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, pass_fds=(self._lock,)
        )
        if done.returncode:
            raise _complaint(verb, done.stderr)
        return done.stdout

    def put(self, name: str, path: Path) -> None:
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)

    def get(self, name: str, path: Path) -> None:
        source = self._folder / name
        if source.is_file():
            source.replace(path)


class ContainerWorkshop:
    """A running container of a Debian-family image, as its root."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        self._api = api
        self._container = container

    def run(self, verb: str, *arguments: str) -> str:
        command = ["/bin/sh", f"{_FOLDER}/debian.sh", verb, _FOLDER, *arguments]
        job = self._api.exec_create(self._container, command, user="0:0")["Id"]
        stdout, stderr = self._api.exec_start(job, demux=True)
        if self._api.exec_inspect(job)["ExitCode"]:
            raise _complaint(verb, (stderr or b"").decode(errors="replace"))
        return (stdout or b"").decode()

    def put(self, name: str, path: Path) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            info = tarfile.TarInfo(f"{_FOLDER.strip('/')}/{name}")
            info.size, info.mode = path.stat().st_size, 0o644
            with path.open("rb") as handle:
                tar.addfile(info, handle)
        self._api.put_archive(self._container, "/", buffer.getvalue())

    def get(self, name: str, path: Path) -> None:
        try:
            chunks, _ = self._api.get_archive(self._container, f"{_FOLDER}/{name}")
        except NotFound:
            return
        spool = path.with_suffix(".spool")
        with spool.open("wb") as out:
            for chunk in chunks:
                out.write(chunk)
        with tarfile.open(spool) as tar:
            handle = tar.extractfile(tar.getmembers()[0])
            if handle is not None:
                with path.open("wb") as out:
                    shutil.copyfileobj(handle, out)
        spool.unlink()


def labels(cache: Path) -> dict[str, str]:
    """The labels of the containers of builds into *cache*."""
    return {LABEL: "1", BUILDER_LABEL: sha256_bytes(str(cache.resolve()).encode())}


def sweep(api: docker.APIClient, cache: Path) -> None:
    """Remove the containers that a killed build into *cache* left; the caller holds the cache's lock."""
    with engine_errors("images"):
        mine = f"{BUILDER_LABEL}={labels(cache)[BUILDER_LABEL]}"
        for container in api.containers(all=True, filters={"label": mine}):
            api.remove_container(container["Id"], force=True, v=True)


@contextmanager
def workshop(
    api: docker.APIClient, builder: str | None, folder: Path, lock: int, marks: dict[str, str]
) -> Iterator[Workshop]:
    """This host where it has apt and no *builder* is named; else a container of the image *builder*, labelled *marks*.

    The container fetches packages with its own apt sources, so it has the engine host's network (a default bridge is
    not everywhere), and the right to mount, which installing a root takes. It runs Debian's packages only, and goes
    when the build ends.

    Raises:
        UserError: the builder image is not in the engine.
        InfraError: no apt here and no builder named, or the engine refused.
    """
    if builder is None:
        if shutil.which("apt-get") is None:
            remedy = "name a Debian image that the engine has with --builder"
            raise InfraError("images", "this host has no apt to build from Debian packages", remedy)
        yield HostWorkshop(folder, lock)
        return
    with engine_errors("images: builder container"):
        try:
            api.inspect_image(builder)  # type: ignore[no-untyped-call]
        except ImageNotFound as error:
            raise UserError(
                f"--builder {builder}", "is not in the engine", "load a Debian image into it first"
            ) from error
        container = api.create_container(
            builder,
            entrypoint=["/bin/sleep", "infinity"],
            user="0:0",
            labels=marks,
            working_dir="/",
            host_config=api.create_host_config(
                network_mode="host", cap_add=["SYS_ADMIN"], security_opt=["apparmor=unconfined"]
            ),
        )["Id"]
        try:
            api.start(container)
            shop = ContainerWorkshop(api, container)
            shop.put("debian.sh", SCRIPT)
            yield shop
        finally:
            api.remove_container(container, force=True, v=True)


def _complaint(verb: str, stderr: str) -> InfraError:
    """One line for a failed verb."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E:")] or lines[-1:] or ["it failed without a word"]
    return InfraError(f"images: {verb}", errors[0].removeprefix("E:").strip()[:300], "see docs/images.md")

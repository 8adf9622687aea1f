"""Real Debian packages and a real archive of old ones, small enough for tests."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import docker

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, recipe
from harness.engine.images.cache import building
from harness.engine.images.packages import Pantry
from harness.engine.images.recipe import DebianPackage, Lock, Recipe
from harness.engine.images.workshop import workshop

TINY = 'suite = "trixie"\narchitecture = "amd64"\npackages = ["tar"]\nepoch = 1795996800\n'
"""The smallest recipe: a Debian minbase without Python, which installs in half the time of ours."""


def write_recipe(images_dir: Path, name: str, text: str) -> None:
    """A new image folder."""
    (images_dir / name).mkdir(parents=True)
    (images_dir / name / "recipe.toml").write_text(text)


def share_packages(source: Path, target: Path) -> None:
    """A cache that has another one's packages and nothing else."""
    (target / "debs").mkdir(parents=True, exist_ok=True)
    for path in (source / "debs").glob("*.deb"):
        if not (target / "debs" / path.name).exists():
            shutil.copyfile(path, target / "debs" / path.name)  # the two may lie on different file systems


def fetch(api: docker.APIClient, wanted: Recipe, cache: Path, work: Path) -> tuple[DebianPackage, ...]:
    """The packages of a recipe, in the cache, from the machine's mirrors."""
    (work / "debian").mkdir(parents=True)
    with building(cache, print) as lock, workshop(api, None, work / "debian", lock, {}) as shop:
        return Pantry(shop, wanted, cache, work, print).resolve()


def older(package: DebianPackage, cache: Path, work: Path) -> tuple[DebianPackage, Path]:
    """A package that no mirror has: *package* under a lower version and with one more file, as a real .deb."""
    root = work / "older"
    subprocess.run(["dpkg-deb", "-R", cache / "debs" / f"{package.sha256}.deb", root], check=True)
    version = package.version + "~older1"
    control = root / "DEBIAN/control"
    control.write_text(control.read_text().replace(f"Version: {package.version}\n", f"Version: {version}\n"))
    (root / "usr/share/older").mkdir(parents=True)
    (root / "usr/share/older/mark").write_text("an older version\n")
    path = work / f"{package.name}_{version}_{package.architecture}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, path], check=True, stdout=subprocess.DEVNULL)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return package.model_copy(update={"version": version, "sha256": sha256}), path


def with_package(lock: Lock, package: DebianPackage) -> Lock:
    """A lock with one package exchanged."""
    return Lock(packages=tuple(package if one.name == package.name else one for one in lock.packages))


@contextmanager
def snapshot_archive(package: DebianPackage, deb: Path) -> Iterator[str]:
    """A server on loopback that answers as Debian's snapshot archive does, with one package; yields its address."""
    sha1 = hashlib.sha1(deb.read_bytes()).hexdigest()
    name, version = package.name, package.version
    listing = {"result": [{"source": name, "version": version, "name": name, "binary_version": version}]}
    files = {
        "result": [{"architecture": package.architecture, "hash": sha1}],
        "fileinfo": {sha1: [{"name": deb.name, "size": deb.stat().st_size}]},
    }
    answers = {
        f"/mr/binary/{name}/": json.dumps(listing).encode(),
        f"/mr/package/{name}/{version}/binfiles/{name}/{version}": json.dumps(files).encode(),
        f"/file/{sha1}": deb.read_bytes(),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = answers.get(unquote(self.path.partition("?")[0]))
            self.send_response(200 if data is not None else 404)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def user_with_archive(home: Path, address: str) -> None:
    """A home folder whose Debian settings name *address* as the snapshot archive."""
    home.mkdir()
    (home / ".devscripts").write_text(f"DEBSNAP_BASE_URL={address}\n")


@contextmanager
def builder_image(api: docker.APIClient, base: BuiltImage, images_dir: Path, cache: Path, work: Path) -> Iterator[str]:
    """Our own base image with mmdebstrap installed in it: what a user's builder image is like; gone afterwards."""
    source = recipe.load(images_dir, "base")
    wanted = source.recipe.model_copy(update={"packages": ("mmdebstrap",)})
    present = {package.name for package in source.lock.packages}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for package in fetch(api, wanted, cache, work):
            if package.name not in present:
                tar.add(cache / "debs" / f"{package.sha256}.deb", f"debs/{package.name}.deb")
    container = api.create_container(
        base.handle,
        command=["/bin/sh", "-c", "dpkg -i /debs/*.deb"],
        user="0:0",
        labels={"trialbox": "1"},
        host_config=api.create_host_config(network_mode="none"),
    )["Id"]
    try:
        api.put_archive(container, "/", buffer.getvalue())
        api.start(container)
        assert api.wait(container)["StatusCode"] == 0, api.logs(container)
        image = api.commit(container)["Id"]
    finally:
        api.remove_container(container, force=True)
    try:
        yield image
    finally:
        api.remove_image(image)


def inside(engine: Engine, handle: str, *argv: str) -> str:
    """What a command prints in a container of the image."""
    settings = engine.api.create_host_config(network_mode="none")
    container = engine.api.create_container(handle, list(argv), labels={"trialbox": "1"}, host_config=settings)["Id"]
    try:
        engine.api.start(container)
        engine.api.wait(container)
        return bytes(engine.api.logs(container)).decode()
    finally:
        engine.api.remove_container(container, force=True)

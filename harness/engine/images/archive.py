"""An image as one docker-save archive, its identity, and the way into an engine.

The id is the digest of the config that we fix and the diff ids of the layers, so it depends on content alone. An
engine's own id of the same image is only a handle: stores disagree about it.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import docker
from docker.errors import ImageNotFound

from harness import digest as _digest
from harness.engine.client import engine_errors
from harness.engine.images.rootfs import AGENT_ID
from harness.errors import InfraError, VerifyError

REPOSITORY = "trialbox"
LABELS = {"trialbox": "1"}
ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Content:
    """What identifies an image: its layers' diff ids from the bottom up, its architecture, its creation time (s)."""

    layers: tuple[str, ...]
    architecture: str
    epoch: int

    @property
    def id(self) -> str:
        """``digest({architecture, config, created, layers, os})``: the image id."""
        return _digest.digest({**self._identity(), "layers": list(self.layers)})

    def _identity(self) -> dict[str, Any]:
        return {
            "architecture": self.architecture,
            "config": {
                "Env": list(ENVIRONMENT),
                "Labels": LABELS,
                "User": f"{AGENT_ID}:{AGENT_ID}",
                "WorkingDir": "/workspace",
            },
            "created": datetime.fromtimestamp(self.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "os": "linux",
        }

    def config(self) -> bytes:
        """The image's config file: the identity in the form that engines read, with a history that says nothing."""
        value = self._identity()
        value["history"] = [{"created": value["created"], "created_by": REPOSITORY} for _ in self.layers]
        value["rootfs"] = {"type": "layers", "diff_ids": list(self.layers)}
        return _digest.canonical(value)


def tag(name: str, image_id: str) -> str:
    """The name under which an engine keeps an image."""
    return f"{REPOSITORY}/{name}:{image_id.removeprefix('sha256:')[:12]}"


def write_archive(path: Path, name: str, content: Content, layers: list[tuple[IO[bytes], int]]) -> None:
    """Write a docker-save archive of *layers* (open files and their sizes) to *path*; the caller makes it atomic."""
    members = [_layer_name(diff_id) for diff_id in content.layers]
    with path.open("wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member, (layer, size) in zip(members, layers, strict=True):
            _add(tar, member, layer, size, content.epoch)
        for member, data in _small_files(name, content).items():
            _add(tar, member, io.BytesIO(data), len(data), content.epoch)


def _small_files(name: str, content: Content) -> dict[str, bytes]:
    """The config and the manifest that names it: all of an archive but its layers."""
    config = content.config()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    layers = [_layer_name(diff_id) for diff_id in content.layers]
    manifest = [{"Config": config_name, "RepoTags": [tag(name, content.id)], "Layers": layers}]
    return {config_name: config, "manifest.json": _digest.canonical(manifest)}


def check_archive(path: Path, name: str, content: Content) -> None:
    """Rehash an archive.

    Raises:
        VerifyError: it is not exactly the archive of *content* under this name.
    """
    expected = {_layer_name(diff_id): diff_id for diff_id in content.layers}
    expected |= {member: _digest.sha256_bytes(data) for member, data in _small_files(name, content).items()}
    try:
        with tarfile.open(path) as tar:
            for member, digest in expected.items():
                handle = tar.extractfile(member)
                actual = "sha256:" + _sha256(handle) if handle else "nothing"
                if actual != digest:
                    raise VerifyError(str(path), f"{member} hashes to {actual}", "it is built again")
    except (OSError, tarfile.TarError, KeyError) as error:
        raise VerifyError(str(path), f"is not a whole image archive ({error})", "it is built again") from error


@contextmanager
def layer_of(path: Path, diff_id: str) -> Iterator[tuple[IO[bytes], int]]:
    """One layer inside an archive, as an open file and its size."""
    with tarfile.open(path) as tar:
        member = tar.getmember(_layer_name(diff_id))
        handle = tar.extractfile(member)
        if handle is None:
            raise VerifyError(str(path), f"has no layer {diff_id}", "build the image again")
        yield handle, member.size


def find(api: docker.APIClient, name: str, content: Content) -> str | None:
    """The engine's handle of an image that is *content* to the letter, or ``None``.

    Raises:
        VerifyError: the engine has an image of our tag that is something else.
    """
    with engine_errors(f"image {name}"):
        try:
            seen = api.inspect_image(tag(name, content.id))  # type: ignore[no-untyped-call]
        except ImageNotFound:
            return None
    config = json.loads(content.config())
    differences = [
        field
        for field, ours, theirs in (
            ("layers", config["rootfs"]["diff_ids"], seen["RootFS"].get("Layers")),
            ("architecture", content.architecture, seen["Architecture"]),
            ("os", "linux", seen["Os"]),
            *((key, value, seen["Config"].get(key)) for key, value in config["config"].items()),
            *((key, None, seen["Config"].get(key) or None) for key in ("Entrypoint", "Volumes", "ExposedPorts")),
        )
        if ours != theirs
    ]
    if differences:
        raise VerifyError(
            f"image {tag(name, content.id)}", f"the engine's differs in {', '.join(differences)}", "remove it"
        )
    return str(seen["Id"])


def put(api: docker.APIClient, name: str, content: Content, path: Path) -> str:
    """Load an archive into the engine and check what the engine made of it; returns the engine's handle.

    Raises:
        InfraError: the engine refused the archive.
        VerifyError: what it has now is not *content*.
    """
    with engine_errors(f"image {name}"), path.open("rb") as handle:
        for message in api.load_image(handle, quiet=True):  # type: ignore[no-untyped-call]
            if "error" in message:
                raise InfraError(f"image {name}", f"the engine refused it: {message['error']}", "see `trialbox doctor`")
    found = find(api, name, content)
    if found is None:
        raise VerifyError(f"image {tag(name, content.id)}", "is not there after loading", "see `trialbox doctor`")
    return found


def _layer_name(diff_id: str) -> str:
    return diff_id.removeprefix("sha256:") + "/layer.tar"


def _sha256(handle: IO[bytes]) -> str:
    hasher = hashlib.sha256()
    while block := handle.read(_BLOCK):
        hasher.update(block)
    return hasher.hexdigest()


def _add(tar: tarfile.TarFile, name: str, data: IO[bytes], size: int, epoch: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, epoch, 0o644
    tar.addfile(info, data)

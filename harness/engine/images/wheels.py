"""Wheels: fetched by hash with the user's own pip settings, laid out as a layer without running any of their code."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile
from installer.utils import parse_wheel_filename

from harness.engine.images.layer import Entry, Kind
from harness.engine.images.recipe import Wheel
from harness.errors import InfraError
from harness.files import atomic_write

PYTHON = "3.13"
_SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
_PLATFORMS = {
    "amd64": ("manylinux2014_x86_64", "manylinux_2_28_x86_64", "manylinux_2_34_x86_64"),
    "arm64": ("manylinux2014_aarch64", "manylinux_2_28_aarch64", "manylinux_2_34_aarch64"),
}


def fetch(
    wheels: tuple[Wheel, ...], architecture: str, cache: Path, scratch: Path, python: str = PYTHON
) -> dict[Wheel, Path]:
    """The files of *wheels*, for *python*, from the cache or else from pip; each matches its digest.

    Raises:
        InfraError: pip is missing, or can't get a wheel with the locked hash.
    """
    missing = [wheel for wheel in wheels if not _intact(cache, wheel)]
    if missing:
        lines = "".join(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in missing)
        target = scratch / "wheels"
        _download(lines, architecture, target, scratch, python, "--no-deps", "--require-hashes")
        for wheel in missing:
            found = target / wheel.filename
            if not found.is_file():
                raise InfraError(f"wheel {wheel.filename}", "pip got another file", "make a new lock")
            atomic_write(_cached(cache, wheel), found.read_bytes())
            if not _intact(cache, wheel):
                raise InfraError(f"wheel {wheel.filename}", "has another hash than the lock's", "make a new lock")
    return {wheel: _cached(cache, wheel) for wheel in wheels}


def resolve(
    requirements: tuple[str, ...], architecture: str, cache: Path, scratch: Path, python: str = PYTHON
) -> tuple[Wheel, ...]:
    """The wheels that *requirements* need now on *python*, sorted by name, all in the cache."""
    target = scratch / "wheels"
    _download("".join(f"{line}\n" for line in requirements), architecture, target, scratch, python)
    wheels = []
    for path in sorted(target.iterdir()):
        name = parse_wheel_filename(path.name)
        sha256 = _sha256(path)
        wheel = Wheel(name=name.distribution.lower(), version=name.version, filename=path.name, sha256=sha256)
        atomic_write(_cached(cache, wheel), path.read_bytes())
        wheels.append(wheel)
    return tuple(sorted(wheels, key=lambda wheel: wheel.name))


def entries(files: dict[Wheel, Path], epoch: int, scratch: Path) -> Iterator[Entry]:
    """The layer's entries: modules in Debian's folder for local ones, scripts in ``/usr/local/bin``."""
    root = scratch / "tree"
    destination = SchemeDictionaryDestination(
        scheme_dict={
            "purelib": str(root / _SITE),
            "platlib": str(root / _SITE),
            "headers": str(root / f"usr/local/include/python{PYTHON}"),
            "scripts": str(root / "usr/local/bin"),
            "data": str(root / "usr/local"),
        },
        interpreter="/usr/bin/python3",
        script_kind="posix",
        bytecode_optimization_levels=(),
    )
    for path in files.values():
        with zipfile.ZipFile(path) as handle:
            install(source=WheelFile(handle), destination=destination, additional_metadata={})
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir():
            yield Entry(name, Kind.FOLDER, 0o755, mtime=epoch)
        else:
            status = path.stat()
            mode = 0o755 if status.st_mode & 0o100 else 0o644
            yield Entry(name, Kind.FILE, mode, mtime=epoch, size=status.st_size, read=partial(Path.read_bytes, path))


def _download(requirements: str, architecture: str, target: Path, scratch: Path, python: str, *options: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    listing = scratch / "requirements.txt"
    listing.write_text(requirements)
    platforms = [part for name in _PLATFORMS[architecture] for part in ("--platform", name)]
    command = [*pip_command(scratch), "download", "--quiet", "--only-binary=:all:", "--python-version", python]
    command += ["--implementation", "cp", *platforms, *options, "--dest", str(target), "--requirement", str(listing)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), done.stderr[-200:])
        raise InfraError("pip download", last.removeprefix("ERROR: ").strip(), "check pip's index settings")


def pip_command(scratch: Path) -> list[str]:
    """A pip that runs: this environment's, the system's, or one that the standard library brings."""
    for python in (sys.executable, "/usr/bin/python3"):
        command = [python, "-m", "pip"]
        if (
            os.access(python, os.X_OK)
            and not subprocess.run([*command, "--version"], capture_output=True, check=False).returncode
        ):
            return command
    made = subprocess.run([sys.executable, "-m", "venv", str(scratch / "venv")], capture_output=True, check=False)
    if made.returncode:
        raise InfraError("pip", "is not installed for this Python", "install pip, or Debian's python3-venv")
    return [str(scratch / "venv/bin/python"), "-m", "pip"]


def _cached(cache: Path, wheel: Wheel) -> Path:
    return cache / "wheels" / wheel.sha256 / wheel.filename


def _intact(cache: Path, wheel: Wheel) -> bool:
    path = _cached(cache, wheel)
    return path.is_file() and _sha256(path) == wheel.sha256


def _sha256(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()

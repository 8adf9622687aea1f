"""A Python of the bundle's own, out of Debian packages: it runs in any image and leaves no trace in its children.

An agent must not depend on which Python a task's image has, and its declared range may end below it. So the bundle has
Debian's Python of another release, its C library and its loader included. The loader is started by name with the folder
of libraries on its command line; no variable says anything of it, so what the agent starts runs as if there were none.
"""

from __future__ import annotations

import re
import shutil
import tarfile
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import docker
from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile

from harness.bundles.debs import files_of
from harness.engine.client import engine_errors
from harness.engine.images.recipe import Wheel
from harness.errors import InfraError
from harness.solvers.manifest import BUNDLE

_HOME = "python"
_PYTHON = f"{BUNDLE}/{_HOME}/bin/python3"
_LOADER = "ld-linux-x86-64.so.2"
_LIBRARY = re.compile(r"(?:usr/)?lib/x86_64-linux-gnu/([^/]+\.so[^/]*)")
_WRAPPER = """#!/bin/sh
exec {home}/lib/{loader} --library-path {home}/lib --argv0 {home}/bin/python3 {home}/bin/python{version} "$@"
"""


def put_python(packages: Iterable[Path], version: str, tree: Path) -> None:
    """Python *version* out of its packages: ``python/bin/python3`` in the bundle.

    Raises:
        InfraError: a package can't be read, or they hold no such Python.
    """
    home = tree / _HOME
    (home / "bin").mkdir(parents=True)
    for path in packages:
        with files_of(path) as tar:
            members = {member.name.removeprefix("./"): member for member in tar}
            for name, member in members.items():
                place = _place(name, version)
                if place is not None and (member.isreg() or member.issym()):
                    _extract(tar, members, name, home / place)
    python, loader = home / f"bin/python{version}", home / "lib" / _LOADER
    if not python.is_file() or not loader.is_file():
        raise InfraError(
            "bundle: python", f"the packages hold no Python {version} with its loader", "correct parts.toml"
        )
    wrapper = home / "bin/python3"
    wrapper.write_text(_WRAPPER.format(home=f"{BUNDLE}/{_HOME}", loader=_LOADER, version=version))
    for program in (wrapper, python, loader):
        program.chmod(0o755)


def put_wheels(wheels: dict[Wheel, Path], version: str, tree: Path) -> None:
    """Wheels for that Python, without running any of their code."""
    home = tree / _HOME
    site = str(home / f"lib/python{version}/dist-packages")
    destination = SchemeDictionaryDestination(
        scheme_dict={
            "purelib": site,
            "platlib": site,
            "headers": str(home / "include"),
            "scripts": str(home / "bin"),
            "data": str(home),
        },
        interpreter=_PYTHON,
        script_kind="posix",
        bytecode_optimization_levels=(),
    )
    for path in wheels.values():
        with zipfile.ZipFile(path) as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # bytecode that a wheel brings is skipped, as it should be
            install(source=WheelFile(handle), destination=destination, additional_metadata={})


def compile_modules(api: docker.APIClient, handle: str, version: str, tree: Path, marks: dict[str, str]) -> None:
    """Bytecode for every module, by the bundle's own Python in a container without network.

    The bundle is read-only in a task's container, so without it each start would compile all of it.

    Raises:
        InfraError: the engine refused, or does not see this host's folders.
    """
    status = tree.stat()
    library = f"{BUNDLE}/{_HOME}/lib/python{version}"
    command = [_PYTHON, "-I", "-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", library]
    with engine_errors("images: bytecode"):
        container = api.create_container(
            handle,
            entrypoint=command,
            user=f"{status.st_uid}:{status.st_gid}",
            environment={"PYTHONHASHSEED": "0"},
            labels=marks,
            host_config=api.create_host_config(network_mode="none", binds={str(tree): {"bind": BUNDLE, "mode": "rw"}}),
            network_disabled=True,
        )["Id"]
        try:
            api.start(container)
            api.wait(container)  # what doesn't compile can't be imported either: its status says nothing
        finally:
            api.remove_container(container, force=True, v=True)
    if not (tree / _HOME / f"lib/python{version}/__pycache__").is_dir():
        raise InfraError("bundle: python", "left no bytecode", "let the engine see the cache's folder")


def _place(name: str, version: str) -> str | None:
    """Where a package's file goes below ``python/``; None for what is not needed."""
    if name == f"usr/bin/python{version}":
        return f"bin/python{version}"
    if name.startswith(f"usr/lib/python{version}/"):
        return name.removeprefix("usr/")
    library = _LIBRARY.fullmatch(name)
    if library is not None:
        return f"lib/{library[1]}"
    parts = name.split("/")
    return f"licences/{parts[3]}" if parts[:3] == ["usr", "share", "doc"] and parts[-1] == "copyright" else None


def _extract(tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str, place: Path) -> None:
    """One file or link. Libraries all go into one folder, so that links between them hold; another link is followed."""
    member = members[name]
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.issym() and "/" not in member.linkname and _LIBRARY.fullmatch(name):
        place.symlink_to(member.linkname)
        return
    for _ in range(8):
        if not member.issym():
            break
        folder = name.rpartition("/")[0]
        target = member.linkname.lstrip("/") if member.linkname.startswith("/") else f"{folder}/{member.linkname}"
        name = _normal(target)
        if name not in members:
            return  # of another package, or of a part that is left out
        member = members[name]
    source = tar.extractfile(member) if member.isreg() else None
    if source is None:
        return
    with place.open("wb") as out:
        shutil.copyfileobj(source, out)
    place.chmod(0o755 if member.mode & 0o111 else 0o644)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", ".", ".."}:
            parts.append(part)
    return "/".join(parts)

"""The compiler of programs: an image of its own, from which nothing but the finished executable is taken.

So no source, no object file and no path of a build reaches the image that the executable goes into.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import docker

from harness.engine.client import engine_errors
from harness.engine.images.layer import Entry, Kind, folder
from harness.errors import InfraError, UserError
from harness.program import COMPILE_FOLDER, FLAGS, Program

COMPILER, WORKBENCH = "compiler", "workbench"
"""The images that compile a program and that it stands on."""


def entries(name: str, executable: bytes, epoch: int) -> Iterator[Entry]:
    """The layer: the executable, root's, in a folder of its own."""
    yield folder("opt", epoch)
    yield folder(f"opt/{name}", epoch)
    yield Entry(f"opt/{name}/{name}", Kind.FILE, 0o755, mtime=epoch, size=len(executable), read=lambda: executable)


def compile_source(
    api: docker.APIClient,
    handle: str,
    program: Program,
    variants: Mapping[str, tuple[str, ...]],
    *,
    epoch: int,
    marks: Mapping[str, str],
) -> dict[str, bytes]:
    """The executables of *program*, one for each of *variants*: its options by a name that can be a file's.

    Args:
        api: the engine.
        handle: its handle of the compiler's image.
        program: what is compiled.
        variants: options beyond :data:`FLAGS`, such as a macro's definition.
        epoch: SOURCE_DATE_EPOCH in seconds.
        marks: the labels of the container, which has no network.

    Raises:
        UserError: the source does not compile; the message is the compiler's first.
        InfraError: the engine refused.
    """
    source = "program.c"  # its own name would reach the executable's bytes where a macro asks for it
    lines = ["set -e", f"cd {COMPILE_FOLDER}"]
    for name, options in variants.items():
        words = " ".join(["gcc", *FLAGS, *options, "-o", f"out/{name}", source])
        lines.append(f"{words} || exit 1")
    upload = _tar({f"{COMPILE_FOLDER}/{source}": program.text(), f"{COMPILE_FOLDER}/run.sh": "\n".join(lines).encode()})
    with _container(api, handle, epoch, marks) as container:
        api.put_archive(container, "/", upload)
        api.start(container)
        status = api.wait(container)["StatusCode"]
        if status != 0:
            said = bytes(api.logs(container, stdout=False, stderr=True)).decode("utf-8", "replace").splitlines()
            first = next((line for line in said if "error" in line), said[-1] if said else f"status {status}")
            raise UserError(str(program.source), f"does not compile: {first[:300]}", "correct it")
        chunks, _ = api.get_archive(container, f"{COMPILE_FOLDER}/out")
        return _files(b"".join(chunks), variants)


@contextmanager
def _container(api: docker.APIClient, handle: str, epoch: int, marks: Mapping[str, str]) -> Iterator[str]:
    with engine_errors("images: compiler"):
        container = api.create_container(
            handle,
            entrypoint=["/bin/sh", f"{COMPILE_FOLDER}/run.sh"],
            user="0:0",
            environment={"SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C.UTF-8"},
            labels=dict(marks),
            host_config=api.create_host_config(network_mode="none"),
            network_disabled=True,
        )["Id"]
        try:
            yield str(container)
        finally:
            api.remove_container(container, force=True, v=True)


def _tar(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        out = tarfile.TarInfo(f"{COMPILE_FOLDER.strip('/')}/out")
        out.type, out.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(out)
        for name, data in files.items():
            info = tarfile.TarInfo(name.strip("/"))
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _files(archive: bytes, variants: Mapping[str, tuple[str, ...]]) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        found = {member.name.rpartition("/")[2]: tar.extractfile(member) for member in tar if member.isreg()}
        read = {name: handle.read() for name, handle in found.items() if handle is not None}
    if missing := variants.keys() - read.keys():
        raise InfraError("images: compiler", f"left no executable {min(missing)}", "see docs/images.md")
    return read

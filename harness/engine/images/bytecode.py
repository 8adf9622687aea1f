"""Bytecode for a derived image's modules, made by the very Python that will read it.

A sandbox's root is read-only, so without bytecode each start of pytest compiles all of its modules (1.3 s instead of
0.3 s). Hash-based, unchecked files made with a fixed hash seed are the same on every host.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import docker

from harness.engine.client import engine_errors
from harness.engine.images.layer import Entry, Kind, slice_of, write_layer

_ROOT = "/usr/local/lib"
_COMMAND = ["/usr/bin/python3", "-s", "-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", _ROOT]


@contextmanager
def compiled(
    api: docker.APIClient, handle: str, entries: Iterable[Entry], *, epoch: int, marks: dict[str, str]
) -> Iterator[list[Entry]]:
    """*entries* and the bytecode of their modules, compiled in a container of the image *handle*, without network.

    The container is labelled *marks*.

    The result can be read until the context ends.

    Raises:
        InfraError: the engine refused.
    """
    plain = list(entries)
    with tempfile.TemporaryFile() as upload, tempfile.NamedTemporaryFile(suffix=".tar") as download:
        write_layer(plain, upload)
        upload.seek(0)
        with engine_errors("images: bytecode"):
            container = api.create_container(
                handle,
                command=_COMMAND,
                user="0:0",
                environment={"PYTHONHASHSEED": "0"},
                labels=marks,
                host_config=api.create_host_config(network_mode="none"),
                network_disabled=True,
            )["Id"]
            try:
                api.put_archive(container, "/", upload)
                api.start(container)
                api.wait(container)  # what doesn't compile can't be imported either: its status says nothing
                chunks, _ = api.get_archive(container, _ROOT)
                for chunk in chunks:
                    download.write(chunk)
                download.flush()
            finally:
                api.remove_container(container, force=True, v=True)
        yield [*plain, *_bytecode(Path(download.name), epoch)]


def _bytecode(path: Path, epoch: int) -> Iterator[Entry]:
    parent = _ROOT.strip("/").rpartition("/")[0]
    with tarfile.open(path) as tar:
        for member in tar:
            name = f"{parent}/{member.name}"
            if member.isdir() and name.endswith("/__pycache__"):
                yield Entry(name, Kind.FOLDER, 0o755, mtime=epoch)
            elif member.isreg() and name.endswith(".pyc"):
                read = partial(slice_of, path, member.offset_data, member.size)
                yield Entry(name, Kind.FILE, 0o644, mtime=epoch, size=member.size, read=read)

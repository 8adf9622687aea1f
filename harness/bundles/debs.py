"""Files out of Debian packages, without Debian's tools and without running anything of theirs."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import InfraError

_MAGIC = b"!<arch>\n"
_HEADER = 60


@contextmanager
def files_of(package: Path) -> Iterator[tarfile.TarFile]:
    """The tar of a package's files.

    Raises:
        InfraError: it is no Debian package, or one that is compressed in another way than xz or gzip.
    """
    data = package.read_bytes()
    offset = len(_MAGIC)
    while data.startswith(_MAGIC) and offset + _HEADER <= len(data):
        name, number = data[offset : offset + 16].decode("latin-1").strip(), data[offset + 48 : offset + 58].strip()
        if not number.isdigit():
            break
        size = int(number)
        offset += _HEADER
        if name.rstrip("/") in {"data.tar.xz", "data.tar.gz", "data.tar"}:
            with tarfile.open(fileobj=io.BytesIO(data[offset : offset + size])) as tar:
                yield tar
            return
        offset += size + size % 2
    raise InfraError(package.name, "holds no data.tar that this Python can read", "build on another Python")

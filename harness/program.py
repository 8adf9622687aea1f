"""A program that is compiled into an image of its own from one C file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.digest import sha256_bytes
from harness.errors import UserError

COMPILE_FOLDER = "/var/tmp/compile"  # noqa: S108 - inside the compiler's container
FLAGS = (
    "-std=c11",
    "-O2",
    "-DNDEBUG",
    "-static",
    "-no-pie",
    "-s",
    "-fno-ident",
    "-frandom-seed=0",
    f"-ffile-prefix-map={COMPILE_FOLDER}=.",
    "-Wl,--build-id=none",
    "-Wdate-time",
    "-Werror=date-time",
)
"""How every program is compiled: static, stripped, and of nothing but its source and its compiler."""

STRICT = ("-Wall", "-Wextra", "-Werror")
"""For what is shipped; a variant for measuring may leave functions unused."""


@dataclass(frozen=True)
class Program:
    """One C file that becomes ``/opt/<name>/<name>`` of the image ``image``."""

    image: str
    name: str
    source: Path

    @property
    def published(self) -> Path:
        """Where the identity of its image is noted: beside the source, since the two change together."""
        return self.source.with_name("image.json")

    @property
    def path(self) -> str:
        """Where the executable is, in the image."""
        return f"/opt/{self.name}/{self.name}"

    def text(self) -> bytes:
        """The source.

        Raises:
            UserError: it can't be read.
        """
        try:
            return self.source.read_bytes()
        except OSError as error:
            raise UserError(str(self.source), f"can't be read: {error.strerror}", "a program is one C file") from error

    @property
    def digest(self) -> str:
        """The digest of all but its compiler that decides the executable."""
        return sha256_bytes(b"\n".join([" ".join((*FLAGS, *STRICT)).encode(), self.name.encode(), self.text()]))

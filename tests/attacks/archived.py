"""A stream of a tree, made by hand, through the one door for it."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from pathlib import Path

from harness.suites.tree import LINK
from harness.untrusted import Listing, Refused, read_archive, refuse_escaping_link
from tests.attacks.pair import Pure


def read(*members: tuple[str, bytes, str]) -> Pure:
    def work(_: Path) -> list[str]:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            for name, kind, target in members:
                one = tarfile.TarInfo(name)
                one.type, one.linkname = kind, target
                tar.addfile(one)
        made.seek(0)
        listing = Listing(Counter("f" * len(members)), 1)
        try:
            found = read_archive(made, listing, max_bytes=1 << 20).tree
            for path, entry in found.items():
                if entry.mode == LINK:
                    refuse_escaping_link(path, entry.data)
        except Refused as refused:
            return [f"refused: {refused.reason.value}"]
        return ["clean"]

    return Pure(work)

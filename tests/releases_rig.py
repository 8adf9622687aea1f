"""A small project with two releases, an index of them on disk for the real pip, and a task that starts from one."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.digest import sha256_bytes
from harness.releases import Releases
from harness.releases.sdist import read_sdist
from harness.suites.hunks import Hunk, apply, cut
from harness.suites.tree import Tree
from tests.suites_rig import write, write_repo_task

OLD = "def add(x, y):\n    return x - y\n\n\ndef twice(x):\n    return add(x, x)\n"
NEW = 'FIXED = "only the later release says so"\n\n\n' + OLD.replace("x - y", "x + y") + "\n\nOTHER = 1\n"
SETUP = "from pathlib import Path\n\nPath({mark!r}).touch()\nraise SystemExit('code of the release has run')\n"


def sdist(files: Mapping[str, str], top: str = "demo_sum-1.0") -> bytes:
    """A source distribution as an archive."""
    members = [_member(f"{top}/{name}", text.encode()) for name, text in files.items()]
    return archive(members)


def archive(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A ``.tar.gz`` of any members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """A member with whatever a hostile archive may say of it."""
    info, data = _member(name, data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def _member(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data


def release(version: str, module: str, mark: Path, **more: str) -> bytes:
    """A release of the demo project, whose build would leave *mark*."""
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: demo-sum\nVersion: {version}\n",
        "setup.py": SETUP.format(mark=str(mark)),
        "a.py": module,
        "tests/test_a.py": "def test_a():\n    assert True\n",
        "docs/guide.txt": "Adds.\n",
    }
    return sdist({**files, **more}, f"demo_sum-{version}")


def write_index(folder: Path, releases: Mapping[str, bytes]) -> str:
    """A package index on disk by version; gives its address."""
    names = {version: f"demo_sum-{version}.tar.gz" for version in releases}
    place = folder / "simple" / "demo-sum"
    place.mkdir(parents=True)
    for version, data in releases.items():
        (place / names[version]).write_bytes(data)
    links = "".join(f'<a href="{name}">{name}</a>\n' for name in names.values())
    (place / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    return (folder / "simple").as_uri()


def fix_hunks(before: Tree, later: Tree) -> list[Hunk]:
    """The one hunk of the demo's fix, without what else the later release changed."""
    return [hunk for hunk in cut(before, later, "a.py") if "    return x + y\n" in hunk.added]


def write_release_task(folder: Path, old: bytes, new: bytes) -> Path:
    """A repo task that starts from *old* and takes its reference from *new*."""
    before = Tree(entry for path, entry in read_sdist(old, "old").items() if path not in {"PKG-INFO", "docs/guide.txt"})
    hunks = fix_hunks(before, read_sdist(new, "new"))
    write_repo_task(folder)
    for part in ("before", "reference", "wrong"):
        shutil.rmtree(folder / part)
    toml = (folder / "task.toml").read_text()
    toml = toml.replace('author_kind = "hand"', 'author_kind = "upstream"')
    toml = toml.replace(
        "decontaminated = true\n", 'decontaminated = false\n\n[provenance.upstream]\nproject = "demo"\n'
    )
    toml = toml.replace(
        'why = "adds two"\n',
        'why = "adds two"\n\n[[wrong.edit]]\nfile = "a.py"\nfind = "x - y"\nreplace = "x + y + 2"\n',
    )
    toml += (
        f'\n[source]\nproject = "demo-sum"\nversion = "1.0"\nsha256 = "{sha256_bytes(old)}"\n'
        f'exclude = ["PKG-INFO", "docs"]\ntree = "{before.digest}"\n'
        f'\n[fix]\nversion = "1.1"\nsha256 = "{sha256_bytes(new)}"\ntree = "{apply(before, hunks).digest}"\n'
    )
    toml += "".join(f'\n[[fix.hunks]]\nfile = "{hunk.file}"\nsha256 = "{hunk.sha256}"\n' for hunk in hunks)
    write(folder, {"task.toml": toml})
    return folder


def shelf(root: Path, releases: Mapping[str, bytes]) -> Releases:
    """A cache that is filled from *releases* by version, with no pip between."""
    return Releases(root, fetch=lambda _project, version, _sha256, _scratch: releases[version])

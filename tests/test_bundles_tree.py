"""A bundle's tree: one form on every host, a digest over all of it, a mark that any write changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.bundles.tree import matching, measure, settle, stamp
from harness.errors import InfraError

NAME = st.text("abcdefgh.-", min_size=1, max_size=6).filter(lambda name: name not in {".", ".."})
TREES = st.dictionaries(st.tuples(NAME, NAME).map("/".join), st.binary(max_size=40), min_size=1, max_size=6)


def write(root: Path, files: dict[str, bytes], mode: int = 0o600) -> Path:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        (root / path).chmod(mode)
    return root


def settled(root: Path, files: dict[str, bytes], mode: int = 0o600) -> Path:
    root.mkdir(parents=True)
    settle(write(root, files, mode))
    return root


@settings(max_examples=40, deadline=None)
@given(files=TREES, data=st.data())
def test_the_digest_is_that_of_the_content_alone_and_any_change_shows(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    first = settled(folder / "first", files, 0o640)
    (folder / "second/empty/folder").mkdir(parents=True)
    second = folder / "second"
    settle(write(second, dict(reversed(files.items()))))
    assert (measure(first), stamp(first)) == (measure(second), stamp(second))
    before, mark = measure(first).digest, stamp(first)
    path = first / data.draw(st.sampled_from(sorted(files)))
    change = data.draw(st.sampled_from(["write", "mode", "remove", "add", "link"]))
    if change == "write":
        path.write_bytes(path.read_bytes() + b"x")
    elif change == "mode":
        path.chmod(0o755)
    elif change == "add":
        (path.parent / "added").write_bytes(b"")
    else:
        path.unlink()
        if change == "link":
            path.symlink_to("elsewhere")
    assert measure(first).digest != before
    assert stamp(first) != mark


def test_a_write_that_keeps_the_size_shows_in_the_mark(tmp_path: Path) -> None:
    root = settled(tmp_path / "tree", {"bin/agent": b"good"})
    mark = stamp(root)
    (root / "bin/agent").write_bytes(b"evil")
    assert stamp(root) != mark


def test_modes_are_two_and_links_stay_inside(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", {"lib/a.so.1": b"1", "bin/agent": b"2"})
    (root / "bin/agent").chmod(0o4711)
    (root / "lib/a.so").symlink_to("a.so.1")
    settle(root)
    assert [(root / path).stat().st_mode & 0o7777 for path in ("lib/a.so.1", "bin/agent", "lib")] == [
        0o644,
        0o755,
        0o755,
    ]
    for target in ("/etc/passwd", "../../outside"):
        (root / "lib/b.so").symlink_to(target)
        with pytest.raises(InfraError, match="leaves the bundle"):
            settle(root)
        (root / "lib/b.so").unlink()
    os.mkfifo(root / "lib/pipe")
    with pytest.raises(InfraError, match="neither a file"):
        settle(root)


def test_patterns_name_files_and_one_that_names_none_is_an_error(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", {"a/b/c.map": b"", "a/c.map": b"", "a/c.js": b"", "d[1].map": b""})

    def names(*patterns: str) -> list[str]:
        return sorted(path.relative_to(root).as_posix() for path in matching(root, patterns))

    assert names("**.map") == ["a/b/c.map", "a/c.map", "d[1].map"]
    assert names("a/*.map", "d[1].map") == ["a/c.map", "d[1].map"]
    assert names("a/**") == ["a/b/c.map", "a/c.js", "a/c.map"]
    with pytest.raises(InfraError, match=r"\*\.exe: names no file"):
        names("a/*.map", "*.exe")

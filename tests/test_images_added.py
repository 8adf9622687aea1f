"""A layer on top of a root's: the two together are the whole root, and nothing that is the same is in both."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from harness.engine.images.layer import Entry, Kind, folder, write_layer
from harness.engine.images.rootfs import added

EPOCH = 1_795_996_800
Seen = dict[str, tuple[str, int, str, bytes]]
"""Type, mode, link target and bytes by path."""


def file(name: str, data: bytes, mode: int = 0o644) -> Entry:
    return Entry(name, Kind.FILE, mode, mtime=EPOCH, size=len(data), read=lambda: data)


def link(name: str, target: str, kind: Kind) -> Entry:
    return Entry(name, kind, 0o777, mtime=EPOCH, target=target)


def layer(entries: Iterable[Entry]) -> io.BytesIO:
    out = io.BytesIO()
    write_layer(entries, out)
    out.seek(0)
    return out


def applied(*layers: io.BytesIO) -> Seen:
    """What an engine sees of stacked layers; a hard link must find its file in its own layer."""
    seen: Seen = {}
    for one in layers:
        one.seek(0)
        with tarfile.open(fileobj=one) as tar:
            names = set(tar.getnames())
            for member in tar:
                parent, _, leaf = member.name.rpartition("/")
                if leaf.startswith(".wh."):
                    del seen[f"{parent}/{leaf.removeprefix('.wh.')}".lstrip("/")]
                    continue
                assert not parent or parent in names, "an engine would make the folder with rights of its own"
                assert not member.islnk() or member.linkname in names
                handle = tar.extractfile(member) if not member.issym() else None
                data = handle.read() if handle else b""
                seen[member.name] = (member.type.decode(), member.mode, member.linkname if member.issym() else "", data)
    return {name: ("0", *rest) if kind == "1" else (kind, *rest) for name, (kind, *rest) in seen.items()}


LEAVES = st.sampled_from(["a", "b", "c"])
FILES = st.dictionaries(
    st.tuples(st.sampled_from(["etc", "usr/lib", "usr"]), LEAVES),
    st.one_of(st.tuples(st.binary(max_size=3), st.sampled_from([0o644, 0o755])), st.sampled_from(["/x", "/y"])),
    max_size=6,
)
FOLDERS = [folder("etc", EPOCH), folder("usr", EPOCH), folder("usr/lib", EPOCH)]


def root(files: dict[tuple[str, str], tuple[bytes, int] | str]) -> list[Entry]:
    made = list(FOLDERS)
    for (place, leaf), content in files.items():
        name = f"{place}/{leaf}.x"
        made.append(
            link(name, content, Kind.SYMLINK) if isinstance(content, str) else file(name, content[0], content[1])
        )
    return made


@given(FILES, FILES)
def test_a_root_and_what_is_added_are_the_new_root(old: dict, new: dict) -> None:  # type: ignore[type-arg]
    below = layer(root(old))
    top = added(root(new), below)
    assert applied(below, layer(top)) == applied(layer(root(new)))


def test_what_is_the_same_is_not_added() -> None:
    old = [*FOLDERS, file("usr/lib/one", b"1"), file("usr/lib/two", b"2")]
    below = layer(old)
    assert added(old, below) == []
    top = added([*old, file("usr/lib/three", b"3")], layer(old))
    assert sorted(entry.name for entry in top) == ["usr", "usr/lib", "usr/lib/three"]


def test_hard_links_come_with_their_file() -> None:
    old = [*FOLDERS, file("usr/a", b"1"), link("usr/b", "usr/a", Kind.HARDLINK)]
    more = [*old, link("usr/c", "usr/a", Kind.HARDLINK)]
    assert {entry.name for entry in added(more, layer(old))} == {"usr", "usr/a", "usr/b", "usr/c"}
    changed = [*FOLDERS, file("usr/a", b"2"), link("usr/b", "usr/a", Kind.HARDLINK)]
    top = added(changed, layer(old))
    assert applied(layer(old), layer(top)) == applied(layer(changed))
    assert applied(layer(old), layer(top))["usr/b"][3] == b"2"

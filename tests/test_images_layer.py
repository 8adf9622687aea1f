"""A layer is a tar that every reader reads alike, and its bytes depend on its entries alone."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import sha256_bytes
from harness.engine.images import rootfs
from harness.engine.images.layer import Entry, Kind, folder, text_file, write_layer

EPOCH = 1_700_000_000

part = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=60)
paths = st.lists(part.filter(lambda text: text not in {".", ".."}), min_size=1, max_size=4).map("/".join)
data = st.binary(max_size=2000)


def file_of(name: str, content: bytes, mode: int = 0o644) -> Entry:
    return Entry(name, Kind.FILE, mode, mtime=EPOCH, size=len(content), read=lambda: content)


def written(*entries: Entry) -> bytes:
    out = io.BytesIO()
    diff_id = write_layer(entries, out)
    assert diff_id == sha256_bytes(out.getvalue())
    return out.getvalue()


@given(st.dictionaries(paths, data, max_size=6))
def test_any_names_and_contents_come_back(files: dict[str, bytes]) -> None:
    entries = [file_of(name, content) for name, content in files.items()]
    stream = written(*entries)
    assert stream == written(*reversed(entries)), "the order of arrival says nothing"
    with tarfile.open(fileobj=io.BytesIO(stream)) as tar:
        seen = {}
        for member in tar.getmembers():
            handle = tar.extractfile(member)
            assert handle is not None
            seen[member.name] = handle.read()
    assert seen == files


@given(paths, paths, st.integers(0, 0o1777), st.integers(0, 2**21 - 1))
def test_links_folders_modes_and_owners_come_back(name: str, target: str, mode: int, owner: int) -> None:
    link = Entry(f"a/{name}", Kind.SYMLINK, 0o777, mtime=EPOCH, target=target)
    stream = written(folder(f"b/{name}", EPOCH, mode=mode, uid=owner, gid=owner), link)
    with tarfile.open(fileobj=io.BytesIO(stream)) as tar:
        seen_link, seen_folder = tar.getmembers()
    assert (seen_link.name, seen_link.linkname, seen_link.issym()) == (f"a/{name}", target, True)
    assert (seen_folder.name, seen_folder.mode, seen_folder.uid) == (f"b/{name}", mode, owner)
    assert (seen_folder.mtime, seen_folder.uname, seen_folder.isdir()) == (EPOCH, "", True)


def test_gnu_tar_reads_it(tmp_path: Path) -> None:
    long = "/".join(["d" * 90] * 3)
    path = tmp_path / "layer.tar"
    path.write_bytes(
        written(
            text_file(f"{long}/file", "content\n", EPOCH),
            Entry("hard", Kind.HARDLINK, 0o644, mtime=EPOCH, target=f"{long}/file"),
        )
    )
    subprocess.run(["tar", "-xf", path, "-C", tmp_path], check=True)
    assert (tmp_path / long / "file").read_text() == "content\n"
    assert (tmp_path / "hard").samefile(tmp_path / long / "file")


def test_known_bytes() -> None:
    """Whatever the Python: these bytes are part of every image's identity."""
    stream = written(folder("etc", EPOCH), text_file("etc/x", "x\n", EPOCH))
    assert sha256_bytes(stream) == "sha256:c0edd143e6411a8db87d2fbcdbd6d6e482fb68030fc6d709dc27d622d627bf49"


def test_a_file_that_changed_under_the_build_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 bytes where 3 were announced"):
        write_layer([Entry("x", Kind.FILE, 0o644, size=3, read=lambda: b"12")], io.BytesIO())


def installed(path: Path, *, day: str, first: str, second: str, stamp: int) -> Path:
    """A root as an installer leaves it, on one host or another."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", **fields: object) -> None:
            info = tarfile.TarInfo(name)
            info.type, info.mtime, info.size, info.mode = kind, stamp, len(content), 0o755
            info.pax_headers = {"SCHILY.xattr.user.host": str(stamp)}
            for key, value in fields.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content))

        for name in ("./", "./etc/", "./dev/", "./run/", "./usr/", "./usr/bin/", "./var/", "./var/log/"):
            add(name, tarfile.DIRTYPE)
        for name in ("passwd", "group", "gshadow"):
            add(f"./etc/{name}", content=b"root:x:0:\n")
        add("./etc/shadow", content=f"root:*:{day}:0:99999:7:::\n".encode(), mode=0o640, gid=42)
        add("./etc/hostname", content=str(stamp).encode())
        add("./etc/resolv.conf", content=str(stamp).encode())
        add("./etc/machine-id", content=str(stamp).encode())
        add("./etc/passwd-", content=str(stamp).encode())
        add("./dev/null", tarfile.CHRTYPE, devmajor=1, devminor=3)
        add("./run/pipe", tarfile.FIFOTYPE)
        add("./var/log/dpkg.log", content=str(stamp).encode())
        add("./usr/share/doc/x/changelog", content=b"long")
        add("./usr/share/doc/x/copyright", content=b"licence")
        add(f"./usr/bin/{first}", content=b"program", mode=0o4755)
        add(f"./usr/bin/{second}", tarfile.LNKTYPE, linkname=f"./usr/bin/{first}", mode=0o4755)
    return path


def test_a_root_depends_on_its_packages_alone(tmp_path: Path) -> None:
    one = installed(tmp_path / "1.tar", day="19000", first="perl", second="perl5", stamp=EPOCH + 10)
    two = installed(tmp_path / "2.tar", day="20555", first="perl5", second="perl", stamp=EPOCH + 99)
    streams = [written(*rootfs.entries(path, EPOCH)) for path in (one, two)]
    assert streams[0] == streams[1]

    with tarfile.open(fileobj=io.BytesIO(streams[0])) as tar:
        members = {member.name: member for member in tar}
        shadow = tar.extractfile("etc/shadow")
        assert shadow is not None
        text = shadow.read().decode()
    assert text == "root:*:20000:0:99999:7:::\nagent:!:20000:0:99999:7:::\n"
    assert {member.mtime for member in members.values()} == {EPOCH}
    assert members["usr/bin/perl"].mode == 0o755, "no set-user bit"
    assert members["usr/bin/perl5"].islnk()
    assert (members["etc/shadow"].mode, members["etc/shadow"].gid) == (0o640, 42)
    assert (members["workspace"].uid, members["grade"].gid, members["home/agent"].uid) == (10001, 10001, 10001)
    gone = {"etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/passwd-", "dev/null", "run/pipe"}
    gone |= {"var/log/dpkg.log", "usr/share/doc/x/changelog"}
    assert not gone & members.keys()
    assert {"usr/share/doc/x/copyright", "var/log", "dev", "run", "etc/gitconfig"} <= members.keys()

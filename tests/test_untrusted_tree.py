"""The one door: what a hostile archive or text can't get past, and honest trees that must."""

from __future__ import annotations

import io
import tarfile
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InfraError
from harness.outcomes import Rejection
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree
from harness.untrusted import (
    Listing,
    Refused,
    clean_text,
    parse_listing,
    read_archive,
    refuse_escaping_link,
    refuse_listing,
)
from harness.workspace import count_entries, join_archives, pack


def _archive(members):
    """A tar of (name, kind, payload) as the keeper's would hold them."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for name, kind, payload in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                data, info.mode = payload
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            else:
                info.linkname = payload or ""
                tar.addfile(info)
    return buffer.getvalue()


def _file(name, data=b"x", mode=0o644):
    return (name, tarfile.REGTYPE, (data, mode))


def _read(members, listing=None, max_bytes=1 << 20):
    listing = listing or Listing(Counter({"f": len(members)}), 3)
    return read_archive(io.BytesIO(_archive(members)), listing, max_bytes=max_bytes)


def test_an_honest_tree_arrives_whole():
    got = _read(
        [
            ("./pkg", tarfile.DIRTYPE, None),
            _file("./pkg/a.py", b"one\n"),
            _file("./run", b"#!/bin/sh\n", 0o755),
            ("./link", tarfile.SYMTYPE, "pkg/a.py"),
            ("./twin", tarfile.LNKTYPE, "./pkg/a.py"),
        ]
    )
    assert got.tree == Tree(
        [
            Entry("pkg/a.py", REGULAR, b"one\n"),
            Entry("run", EXECUTABLE, b"#!/bin/sh\n"),
            Entry("link", LINK, b"pkg/a.py"),
            Entry("twin", REGULAR, b"one\n"),
        ]
    )


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([_file("./../evil")], Rejection.BAD_PATH),
        ([_file("/etc/evil")], Rejection.BAD_PATH),
        ([_file("./a/./b")], Rejection.BAD_PATH),
        ([_file("./new\nline")], Rejection.BAD_PATH),
        ([_file("./esc\x1b[2J")], Rejection.BAD_PATH),
        ([_file("./bidi\u202egpj.py")], Rejection.BAD_PATH),
        ([_file("./back\\slash")], Rejection.BAD_PATH),
        ([_file(b"./bad\xff".decode("utf-8", "surrogateescape"))], Rejection.BAD_PATH),
        ([_file("./README"), _file("./readme")], Rejection.BAD_PATH),
        ([_file("./e\u0301"), _file("./\u00e9")], Rejection.BAD_PATH),
        ([_file("./" + "/".join("d" * 300))], Rejection.TREE_TOO_DEEP),
        ([_file("./" + "/".join(["n" * 200] * 10))], Rejection.BAD_PATH),
        ([("./pipe", tarfile.FIFOTYPE, None)], Rejection.SPECIAL_FILE),
        ([("./disk", tarfile.BLKTYPE, None)], Rejection.SPECIAL_FILE),
        ([("./tty", tarfile.CHRTYPE, None)], Rejection.SPECIAL_FILE),
        ([("./ghost", tarfile.LNKTYPE, "./not-there")], Rejection.SPECIAL_FILE),
        ([_file("./su", mode=0o4755)], Rejection.BAD_MODE),
        ([_file("./sg", mode=0o2755)], Rejection.BAD_MODE),
        ([_file("./vendored/.git/config")], Rejection.NESTED_REPOSITORY),
        ([_file("./.gitmodules")], Rejection.NESTED_REPOSITORY),
        ([_file("./big", b"x" * 2_000_000)], Rejection.TREE_TOO_LARGE),
        (
            [
                _file("./one", b"x" * 400_000),
                ("./two", tarfile.LNKTYPE, "./one"),
                ("./three", tarfile.LNKTYPE, "./one"),
            ],
            Rejection.TREE_TOO_LARGE,
        ),
    ],
)
def test_each_trick_is_refused_by_name(members, reason):
    with pytest.raises(Refused) as caught:
        _read(members)
    assert caught.value.reason is reason
    assert clean_text(caught.value.detail, 10_000) == caught.value.detail


def test_by_products_and_environments_are_left_behind_without_a_penalty():
    got = _read(
        [
            _file("./pkg/__pycache__/a.cpython-313.pyc"),
            _file("./stale.pyc"),
            _file("./.venv/pyvenv.cfg"),
            _file("./.venv/lib/x.so"),
            _file("./.venv/lib/hook.pth"),
            _file("./kept.py"),
        ]
    )
    assert list(got.tree) == ["kept.py"]
    assert sum(got.dropped.values()) == 5


def test_a_stream_that_is_cut_is_a_fault_of_ours_never_a_deletion():
    whole = _archive([_file("./a", b"y" * 5000), _file("./b", b"z" * 5000)])
    listing = Listing(Counter({"f": 2}), 1)
    for length in (0, 100, 512, 3000, 6144, 7000):
        with pytest.raises(InfraError, match="capture"):
            read_archive(io.BytesIO(whole[:length]), listing, max_bytes=1 << 20)


def test_a_count_that_does_not_agree_is_a_fault_of_ours():
    with pytest.raises(InfraError, match="1 entries where 2"):
        _read([_file("./a")], Listing(Counter({"f": 2}), 1))


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"f1\ns1\n", Rejection.SPECIAL_FILE),
        (b"f1\np2\n", Rejection.SPECIAL_FILE),
        (b"d257\n", Rejection.TREE_TOO_DEEP),
        (b"f1\n" * 11, Rejection.TOO_MANY_FILES),
    ],
)
def test_a_listing_alone_can_refuse(lines, reason):
    with pytest.raises(Refused) as caught:
        refuse_listing(parse_listing(lines), max_entries=10)
    assert caught.value.reason is reason


@pytest.mark.parametrize("target", [b"/etc/passwd", b"../x", b"a/../../x", b"sub/..", b"a\0b"])
def test_links_that_may_leave_are_refused(target):
    with pytest.raises(Refused):
        refuse_escaping_link("link", target)


@pytest.mark.parametrize(("path", "target"), [("link", b"a/b"), ("d/link", b"../a"), ("d/e/link", b"../../a")])
def test_links_that_stay_are_kept(path, target):
    refuse_escaping_link(path, target)


@given(st.text() | st.binary())
def test_clean_text_is_one_harmless_line(text):
    shown = clean_text(text, 80)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert all(unicodedata.category(ch) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for ch in shown)


@given(st.text(alphabet="abcdefgh äöü-_.", max_size=60))
def test_clean_text_leaves_plain_text_alone(text):
    assert clean_text(text) == text


_NAMES = st.text(alphabet="abcxyz", min_size=1, max_size=4)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@st.composite
def trees(draw):
    entries = {}
    for path in draw(st.lists(_PATHS, max_size=8, unique=True)):
        clash = any(other.startswith(path + "/") or path.startswith(other + "/") for other in entries)
        if not clash:
            mode = draw(st.sampled_from([REGULAR, EXECUTABLE, LINK]))
            data = b"here" if mode == LINK else draw(st.binary(max_size=2000))
            entries[path] = Entry(path, mode, data)
    return Tree(entries.values())


@given(trees())
def test_what_is_packed_comes_back(tree):
    archive = pack(tree, prefix="workspace/")
    folders = tree.inodes - 1 - len(tree)
    assert count_entries(archive) == len(tree) + folders
    relative = pack(tree)
    got = read_archive(io.BytesIO(relative), Listing(Counter({"f": len(tree) + folders}), 4), max_bytes=1 << 20)
    assert got.tree == tree


@given(trees(), trees())
def test_joined_archives_hold_both(first, second):
    joined = join_archives(pack(first, prefix="a/"), pack(second, prefix="b/"))
    with tarfile.open(fileobj=io.BytesIO(joined)) as tar:
        names = {member.name for member in tar if not member.isdir()}
    assert names == {f"a/{path}" for path in first} | {f"b/{path}" for path in second}

"""A change is a manifest against our own base; its rendering is fixed and can be applied by real tools."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.change import apply, compare, render
from harness.evidence import ChangeKind
from harness.records import to_json
from harness.store import LocalStore
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree
from harness.untrusted import Refused
from tests.test_untrusted_tree import trees


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return LocalStore(tmp_path_factory.mktemp("blobs"))


def _tree(**files):
    return Tree(Entry(path, REGULAR, data) for path, data in files.items())


@settings(deadline=None)
@given(before=trees(), after=trees())
def test_applying_a_change_gives_the_tree_it_came_from(store, before, after):
    after = Tree(entry for entry in after.values() if entry.mode != LINK or entry.data == b"here")
    manifest = compare(before, after, store)
    assert apply(before, manifest, store) == after
    assert [change.path for change in manifest.changes] == sorted((c.path for c in manifest.changes), key=str.encode)
    assert to_json(compare(before, after, store)) == to_json(manifest)


def test_the_kinds_of_change(store):
    manifest = compare(_tree(a=b"1", b=b"2"), Tree([Entry("b", EXECUTABLE, b"2"), Entry("c", REGULAR, b"3")]), store)
    assert [(c.path, c.kind) for c in manifest.changes] == [
        ("a", ChangeKind.DELETED),
        ("b", ChangeKind.MODIFIED),
        ("c", ChangeKind.ADDED),
    ]


def test_a_new_link_out_of_the_tree_is_refused(store):
    with pytest.raises(Refused, match="symlink_escape"):
        compare(_tree(a=b"1"), Tree([Entry("a", LINK, b"/etc/passwd")]), store)


@settings(deadline=None, max_examples=40)
@given(
    old=st.lists(st.sampled_from(["a\n", "b\n", "\f\n", "c\u2028\n"]), max_size=12),
    new=st.lists(st.sampled_from(["a\n", "b\n", "\f\n", "x\r\n"]), max_size=12),
    end=st.booleans(),
)
def test_git_applies_what_we_render(store, tmp_path_factory, old, new, end):
    before = Tree([Entry("f", REGULAR, "".join(old).encode()), Entry("keep", REGULAR, b"k\n")])
    text = "".join(new)
    after = Tree([Entry("f", REGULAR, (text if end else text.rstrip("\n")).encode()), Entry("keep", REGULAR, b"k\n")])
    patch = render(before, after, compare(before, after, store))
    folder = tmp_path_factory.mktemp("work")
    for entry in before.values():
        (folder / entry.path).write_bytes(entry.data)
    if patch:
        subprocess.run(
            ["git", "apply", "--unidiff-zero", "-"], input=patch, cwd=folder, check=True, capture_output=True
        )
    assert (folder / "f").read_bytes() == after["f"].data


def test_a_file_made_to_make_diffing_slow_is_shown_as_one_block(store):
    before = _tree(f=b"".join(b"line %d\n" % (n % 7) for n in range(40_000)))
    after = _tree(f=b"".join(b"line %d\n" % (n % 5) for n in range(40_000)))
    began = time.monotonic()
    patch = render(before, after, compare(before, after, store))
    assert patch.count(b"\n@@ ") == 1
    assert time.monotonic() - began < 60  # it would take hours; no figure is judged here


def test_binary_files_are_named_by_digest(store):
    before, after = _tree(f=b"\0one"), _tree(f=b"\xff\xfetwo")
    patch = render(before, after, compare(before, after, store)).decode()
    assert before["f"].sha256 in patch
    assert after["f"].sha256 in patch

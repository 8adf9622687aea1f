"""A store at an fsspec URL keeps and checks blobs as a local folder does."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest

from harness.digest import sha256_bytes
from harness.errors import VerifyError
from harness.store import LocalStore, Store, UrlStore, open_store

Place = Callable[[Path], tuple[Store, Callable[[str], None]]]


def local(folder: Path) -> tuple[Store, Callable[[str], None]]:
    store = open_store(folder)
    assert isinstance(store, LocalStore)
    return store, lambda name: (folder / "sha256" / name[:2] / name[2:]).write_bytes(b"other")


def memory(folder: Path) -> tuple[Store, Callable[[str], None]]:
    root = f"/{secrets.token_hex(8)}"
    store = open_store(f"memory:/{root}")
    assert isinstance(store, UrlStore)
    return store, lambda name: fsspec.filesystem("memory").pipe_file(f"{root}/sha256/{name[:2]}/{name[2:]}", b"other")


@pytest.mark.parametrize("place", [local, memory])
def test_what_is_kept_comes_back_whole_or_not_at_all(place: Place, tmp_path: Path) -> None:
    store, change = place(tmp_path)
    one = store.put(b"one", "text/plain")
    two = store.put_stream(iter([b"t", b"wo"]), "text/plain")
    assert (one.digest, one.size, two.digest, two.size) == (sha256_bytes(b"one"), 3, sha256_bytes(b"two"), 3)
    assert store.put(b"one", "text/plain") == one
    assert sorted(store.digests()) == sorted([one.digest, two.digest])
    assert (store.get(one.digest), store.get(two.digest)) == (b"one", b"two")

    change(one.digest.removeprefix("sha256:"))
    with pytest.raises(VerifyError, match=one.digest):
        store.get(one.digest)
    assert (store.delete(two.digest), store.delete(two.digest), store.has(two.digest)) == (3, 0, False)
    with pytest.raises(VerifyError, match=two.digest):
        store.get(two.digest)

"""The store as a whole."""

from pathlib import Path

from slabstore import Store


def test_what_was_put_is_there_after_opening_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("wave", "1.2")
    store.put("wave", "1.4")
    store.put("wind", "9")
    assert store.delete("wind")
    assert not store.delete("wind")
    again = Store(tmp_path)
    assert again.keys() == ["wave"]
    assert again.get("wave") == "1.4"


def test_a_full_compaction_keeps_what_is_live(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("a", "1")
    store.seal()
    store.put("b", "2")
    store.delete("a")
    store.seal()
    store.compact()
    assert store.segments() == [(2, 2, 1), (3, 2, 0)]
    assert Store(tmp_path).keys() == ["b"]


def test_version_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "0001.slab").write_text("#slab 1\nput\tk\told\n")
    store = Store(tmp_path)
    assert store.get("k") == "old"
    assert store.segments() == [(1, 1, 1), (2, 2, 0)]

"""Records as lines."""

from slabstore.record import Record, decode, encode


def test_there_and_back() -> None:
    for record in (Record("k", "a text"), Record("k", ""), Record("k", None), Record("\u00e4", "\n")):
        assert decode(encode(record), 2) == record


def test_version_one() -> None:
    assert decode("put\tk\ta\\tb", 1) == Record("k", "a\tb")
    assert decode("del\tk", 1) == Record("k", None)


def test_a_changed_line_holds_no_record() -> None:
    assert decode(encode(Record("k", "1")).replace('"1"', '"2"'), 2) is None

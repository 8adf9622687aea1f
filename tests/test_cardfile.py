"""A card's file in pieces says what the whole says, and notices what was changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InfraError, VerifyError
from scoring.cardfile import CardFile, open_card, read_card_file
from scoring.elements import elements
from tests.card_rig import whole_run
from tests.plans import plan


def test_the_pieces_make_the_whole(tmp_path: Path) -> None:
    card, path, _ = whole_run(tmp_path)
    file = open_card(path, card.id)
    assert (file.shell.id, file.shell.core.cells, file.shell.measured.cells) == (card.id, (), ())
    assert file.shell.core.aggregates == card.core.aggregates
    assert file.whole() == card and file.size == path.stat().st_size
    assert list(file.cells_of("t1")) == [
        (core, measured)
        for core, measured in zip(card.core.cells, card.measured.cells, strict=True)
        if core.cell.task == "t1"
    ]
    assert file.sampled(3).measured.cells == card.measured.cells[:3]
    assert plan().id == card.core.plan_id


def test_every_byte_counts(tmp_path: Path) -> None:
    card, path, _ = whole_run(tmp_path)
    data = path.read_bytes()
    for place in range(0, len(data), 397):
        for changed in (bytes([data[place] ^ 1]), b""):
            with pytest.raises(VerifyError):
                read_card_file(data[:place] + changed + data[place + 1 :], "card", card.id)


def test_what_is_no_card(tmp_path: Path) -> None:
    card, path, _ = whole_run(tmp_path)
    with pytest.raises(VerifyError, match="this is card"):
        read_card_file(path.read_bytes(), "card", "sha256:" + "0" * 64)
    for data in (b"", b"{}", b"null", b"[" * 100_000, path.read_bytes() + b" ", b"\xff" + path.read_bytes()):
        with pytest.raises(VerifyError):
            read_card_file(data, "card")
    with pytest.raises(InfraError):
        open_card(tmp_path / "none.json", card.id)


def test_an_element_that_is_not_canonical_is_refused(tmp_path: Path) -> None:
    """Someone may stamp anything; walking over it still takes nothing for a cell that is written in another way."""
    import hashlib

    card, path, _ = whole_run(tmp_path)
    data = path.read_bytes()
    old_cells = data[data.index(b'"cells":[') + 8 : data.index(b'}],"comparisons"') + 2]
    odd = old_cells.replace(b'"attempt":1', b'"attempt":2,"attempt":1', 1)
    forged = data.replace(old_cells, odd, 1)
    forged = forged.replace(card.sections["core.cells"].encode(), b"sha256:" + hashlib.sha256(odd).hexdigest().encode())
    core = forged[forged.index(b'"core":') + 7 : forged.index(b',"core_digest"')]
    forged = forged.replace(card.core_digest.encode(), b"sha256:" + hashlib.sha256(core).hexdigest().encode(), 1)
    forged = forged.replace(b'"id":"' + card.id.encode() + b'",', b"", 1)
    mine = b"sha256:" + hashlib.sha256(forged).hexdigest().encode()
    forged = forged.replace(b'"measured":', b'"id":"' + mine + b'","measured":', 1)
    file = read_card_file(forged, "card")
    with pytest.raises(VerifyError, match=r"core.cells\[0\].*canonical"):
        list(file.core_cells())


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(b'{"a":9007199254740992}', id="a number beyond 2^53"),
        pytest.param(b'{"a":' + b"9" * 5000 + b"}", id="a number that Python does not read"),
        pytest.param(b'{"a":1.5}', id="a float"),
        pytest.param(b'{"a":NaN}', id="no number"),
        pytest.param(b'{"\xff":1}', id="no UTF-8"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="depth"),
    ],
)
def test_an_element_that_no_reader_should_take_is_refused_by_the_list_s_name(odd: bytes) -> None:
    with pytest.raises(VerifyError, match=r"core\.cells"):
        list(elements(b"[" + odd + b"]", 0, len(odd) + 2, "core.cells"))


def test_lists_of_other_cells_are_no_pairs(tmp_path: Path) -> None:
    _, path, _ = whole_run(tmp_path)
    data = path.read_bytes()
    file = read_card_file(data, "card")
    spans = file._spans
    first = spans["measured"][0]
    shorter = {**spans, "measured": (first, data.index(b'},{"cell"', first) + 2)}
    with pytest.raises(VerifyError, match=r"core\.cells: is not of the cells"):
        list(CardFile(file.shell, data, shorter).cells_of(None))

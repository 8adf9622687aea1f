"""The two depths of verification: what a card checked in pieces shows, and what only its evidence does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from harness.digest import canonical, digest, loads
from harness.errors import VerifyError
from harness.references import attempt_blobs, written_refs
from harness.store import LocalStore
from scoring.card import Card, card_id, section_digests
from scoring.cardfile import open_card, read_card_file
from scoring.elements import elements
from scoring.verify import Depth, Verification, verify_card
from scoring.wholeness import Checker, verify_whole
from tests.card_rig import blob_path, whole_run
from tests.cli_rig import trialbox
from trialbox import verifying


@cache
def shared() -> tuple[Card, Path, LocalStore]:
    return whole_run(Path(mkdtemp()))


def shallow(data: bytes, store: LocalStore, about: int = 3) -> Verification | None:
    file = read_card_file(data, "card")
    checker = Checker(data, file.shell.core.plan, store)
    return verify_whole(file, store, lambda pieces: map(checker.check, pieces), about)


def restamped(change: Callable[[Any], object]) -> bytes:
    """A card edited by somebody who recomputes every digest on it."""
    value = loads(shared()[1].read_bytes())
    change(value)
    value["core_digest"] = digest(value["core"])
    value["sections"] = section_digests(value)
    return canonical({**value, "id": card_id(value)})


def test_both_depths_read_the_same_blobs() -> None:
    card, path, store = shared()
    deep = verify_card(path.read_bytes(), store, card.id)
    for depth in Depth:
        result = verifying.verify_path(path, store, card.id, depth)
        assert (result.problems, result.depth) == ((), depth)
        assert result.blobs == deep.blobs == len(set(store.digests()))
    assert verifying.verify_path(path, store, card.id, None).depth is Depth.DERIVED


def test_a_large_card_is_checked_in_pieces_unless_asked_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    card, path, store = shared()
    monkeypatch.setattr(verifying, "DERIVED_UP_TO", 7)
    assert verifying.verify_path(path, store, card.id, None).depth is Depth.BYTES
    assert verifying.verify_path(path, store, card.id, Depth.DERIVED).depth is Depth.DERIVED


def test_one_process_and_several_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    card, path, store = shared()
    results = []
    for cores in (1, 3):
        monkeypatch.setattr(verifying, "_cores", lambda cores=cores: cores)
        results.append(verifying.verify_path(path, store, card.id, Depth.BYTES))
    assert results[0] == results[1] and results[0].ok


def test_what_a_record_names_is_found_in_its_bytes() -> None:
    card, _, store = shared()
    from harness.evidence import AttemptRecord
    from harness.records import from_json

    for one in card.stamp.evidence:
        if one.record is None:
            continue
        data = store.get(one.record.digest)
        found = {f"sha256:{name.decode()}" for name, *_ in written_refs(data) or ()}
        record = from_json(AttemptRecord, data)
        manifest = record.capture.manifest if record.capture else None
        if manifest is not None:
            found |= {f"sha256:{name.decode()}" for name, *_ in written_refs(store.get(manifest.digest)) or ()}
        assert found == {ref.digest for _, ref in attempt_blobs(store, record)}
        assert written_refs(data.replace(b'"media_type":', b'"media_type" :', 1)) is None


def test_each_changed_or_missing_blob_is_named_as_the_whole_way_names_it() -> None:
    _, path, store = shared()
    whole = path.read_bytes()
    for name in sorted(set(store.digests())):
        file = blob_path(store, name)
        good = file.read_bytes()
        for bad in (good[:-1] + bytes([good[-1] ^ 1]) if good else b"x", good + b" ", None):
            if bad is None:
                file.unlink()
            else:
                file.write_bytes(bad)
            try:
                result, deep = shallow(whole, store), verify_card(whole, store)
            finally:
                file.write_bytes(good)
            assert result is not None and any(name in line and "try" in line for line in result.problems)
            assert set(result.problems) == set(deep.problems)


def test_each_changed_byte_of_the_card_is_named(tmp_path: Path) -> None:
    card, path, store = shared()
    data = path.read_bytes()
    for number, place in enumerate(range(0, len(data), 1201)):
        changed = tmp_path / f"{number}.json"
        changed.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert verifying.verify_path(changed, store, card.id, Depth.BYTES).problems


def test_aggregates_are_held_to_the_cards_own_cells_and_figures_to_the_evidence() -> None:
    store = shared()[2]

    def solve(value: Any) -> None:
        value["core"]["cells"][1]["outcome"] = "solved"

    def count(value: Any) -> None:
        value["core"]["aggregates"]["a1"]["q"]["of"] += 1

    def save(value: Any) -> None:
        value["measured"]["cells"][1]["energy"]["active_uj"] -= 1

    def forget(value: Any) -> None:
        value["stamp"]["evidence"].pop()

    for change, named in ((solve, "core.aggregates."), (count, "core.aggregates.a1.q.of"), (forget, "no final record")):
        data = restamped(change)
        result = shallow(data, store)
        assert result is not None and any(named in line for line in result.problems), result
        assert not verify_card(data, store).ok
    edited = restamped(save)
    assert shallow(edited, store) == Verification(
        read_card_file(edited, "card").shell, (), len(set(store.digests())), Depth.BYTES
    )
    assert "measured.cells[1].energy" in verify_card(edited, store).problems[0]


def test_what_the_quick_way_cannot_judge_is_left_to_the_whole_way() -> None:
    store = shared()[2]

    def swap(value: Any) -> None:
        cells = value["core"]["cells"]
        cells[0], cells[1] = cells[1], cells[0]

    def drop(value: Any) -> None:
        value["measured"]["cells"].pop()

    def stretch(value: Any) -> None:
        value["core"]["cells"][2]["outcome"] = "splendid"

    def default(value: Any) -> None:
        value["measured"]["frontiers"] = []

    for change in (swap, drop, stretch, default):
        data = restamped(change)
        with suppress(VerifyError):
            assert shallow(data, store) is None
        assert not verify_card(data, store).ok


@pytest.mark.parametrize("text", ["[1,]", "[1]2]", "[1", "[,1]", "[1 ,2]", "[1.0]", "[9007199254740992]", "[]]"])
def test_a_list_that_is_none_is_refused(text: str) -> None:
    with pytest.raises((VerifyError, ValueError)):
        list(elements(text.encode(), 0, len(text), "list"))


def test_a_list_is_cut_between_elements() -> None:
    _, path, _ = shared()
    file = open_card(path)
    data = path.read_bytes()
    for part in ("core", "measured", "stamp"):
        for about in (1, 2, 50):
            assert [one for piece in file.pieces(part, about) for one in piece.values(data)] == [*file.values(part)]
    assert [*elements(b"[]", 0, 2, "list")] == [] and [*elements(b"[1,2]", 0, 5, "list")] == [1, 2]


def test_the_command_says_how_deep_it_looked() -> None:
    card, path, _ = shared()
    home = path.parent.parent
    said = trialbox(home, "card", "verify", card.id, "--depth", "bytes", "--json").json
    assert (said["ok"], said["depth"]) == (True, "bytes")
    ran = trialbox(home, "card", "verify", card.id)
    assert ran.code == 0 and "depth derived" in ran.out

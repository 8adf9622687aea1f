"""A card says what its evidence says, and any one changed byte of either is noticed and named."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.digest import canonical, digest, loads, sha256_bytes
from harness.energy import EnergyFlag
from harness.errors import UserError, VerifyError
from harness.outcomes import Outcome
from harness.records import to_value
from harness.references import attempt_blobs
from harness.store import LocalStore
from scoring.card import Card, card_id, card_ids, find_card, make_card, section_digests
from scoring.cardfile import read_card_file
from scoring.core import Core
from scoring.evidence import Evidence, settled
from scoring.verify import Depth, first_difference, verify_bytes, verify_card
from tests.card_rig import MADE, Attempt, blob_path, make_evidence, replace_run, try_of, whole_run
from tests.energy_rig import idle_baseline
from tests.plans import ZERO, plan
from trialbox.verifying import verify_path


@cache
def shared() -> tuple[Card, bytes, LocalStore]:
    """One run for all tests that leave it as it is."""
    card, path, store = whole_run(Path(mkdtemp()))
    return card, path.read_bytes(), store


def test_a_card_is_canonical_and_verifies() -> None:
    card, data, store = shared()
    assert data == canonical(loads(data))
    assert Card.from_bytes(data, "card") == card
    assert card.id == "sha256:" + digest({k: v for k, v in loads(data).items() if k != "id"}).removeprefix("sha256:")
    assert card.core_digest == digest(to_value(card.core))
    result = verify_card(data, store, card.id)
    assert result.problems == ()
    assert result.blobs == len(set(store.digests()))


def test_a_card_holds_no_float_and_every_missing_figure_has_a_reason() -> None:
    def walk(value: Any) -> None:
        assert not isinstance(value, float)
        if isinstance(value, dict):
            if value.get("value", "x") is None:
                assert value["reason"]
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(loads(shared()[1]))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_changed_byte_of_a_card_is_noticed(data: st.DataObject) -> None:
    card, whole, _ = shared()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
    _, problems = verify_bytes(changed, card.id)
    assert problems
    assert all("\n" not in line for line in problems)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_removed_or_added_byte_is_noticed(data: st.DataObject) -> None:
    card, whole, _ = shared()
    place = data.draw(st.integers(0, len(whole)))
    added = whole[:place] + data.draw(st.binary(min_size=1, max_size=3)) + whole[place:]
    removed = whole[:place] + whole[place + 1 :]
    for changed in (added, removed):
        assert changed == whole or verify_bytes(changed, card.id)[1]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (rb'"outcome":"partial"', b'"outcome":"failed!"', "core.cells"),
        (rb'"concurrency":2', b'"concurrency":3', "stamp.run"),
        (rb'"cpu_us":120000', b'"cpu_us":120001', "measured.cells"),
        (rb'"version":"20.10"', b'"version":"20.11"', "stamp.engine"),
        (rb'"core_digest":"sha256:[0-9a-f]', b'"core_digest":"sha256:?', "core_digest"),
        (rb'"core_digest":"sha256:[0-9a-f]{64}', b'"core_digest":"' + ZERO.encode(), "core_digest"),
        (rb'"id":"sha256:[0-9a-f]{64}', b'"id":"' + ZERO.encode(), "id"),
        (rb'"stamp.engine":"sha256:[0-9a-f]{64}', b'"stamp.engine":"' + ZERO.encode(), "sections.stamp.engine"),
        (rb'"core":', b'"cose":', "core"),
        (rb"\{", b"[", "not JSON"),
        (rb'"aggregates":', b' "aggregates":', "canonical form"),
    ],
)
def test_what_was_changed_is_named(old: bytes, new: bytes, named: str) -> None:
    card, whole, _ = shared()
    changed = re.sub(old, lambda _: new, whole, count=1)
    assert changed != whole
    _, problems = verify_bytes(changed, card.id)
    assert named in problems[0]


def restamped(change: Any) -> bytes:
    """A card edited by hand by somebody who recomputes every digest on it."""
    value = loads(shared()[1])
    change(value)
    value["core_digest"] = digest(value["core"])
    value["sections"] = section_digests(value)
    return canonical({**value, "id": card_id(value)})


def test_a_restamped_edit_is_found_by_the_evidence_and_named_by_field() -> None:
    _, _, store = shared()

    def solve(value: Any) -> None:
        value["core"]["cells"][1]["outcome"] = "solved"

    def save(value: Any) -> None:
        value["measured"]["cells"][1]["energy"]["active_uj"] -= 1

    def forget(value: Any) -> None:
        value["stamp"]["evidence"].pop()

    for change, named in (
        (solve, "core.cells[1].outcome"),
        (save, "measured.cells[1].energy.active_uj"),
        (forget, "stamp.evidence: cell"),
    ):
        result = verify_card(restamped(change), store)
        assert any(named in line for line in result.problems), result.problems


def _plan(**changes: Any) -> Any:
    def change(value: dict[str, Any]) -> None:
        value["core"]["plan"].update({name: to(value["core"]["plan"][name]) for name, to in changes.items()})

    return change


def _cells(part: str, to: Any) -> Any:
    def change(value: dict[str, Any]) -> None:
        value[part]["cells"] = to(value[part]["cells"])

    return change


UNPLANNED = {
    "none": (_cells("core", lambda _: []), "core.cells: are not the planned ones"),
    "fewer": (_cells("core", lambda cells: cells[1:]), "core.cells: are not the planned ones"),
    "one twice": (_cells("core", lambda cells: [*cells, cells[0]]), "core.cells: are not the planned ones"),
    "one for another": (_cells("core", lambda cells: [cells[0], cells[0], *cells[2:]]), "at place 1 stands"),
    "another order": (_cells("core", lambda cells: cells[::-1]), "at place 0 stands"),
    "fewer measured": (_cells("measured", lambda cells: cells[:-1]), "measured.cells: are not the planned ones"),
    "more attempts than can be": (_plan(attempts=lambda _: 2**53 - 1), "core.cells: are not the planned ones"),
    "a solver twice": (_plan(solvers=lambda all_: [*all_, all_[0]]), "names solver a0 twice"),
    "a task twice": (_plan(tasks=lambda all_: [*all_, all_[0]]), "names task t0 twice"),
    "no task": (_plan(tasks=lambda _: []), "plans no attempt"),
}


@pytest.mark.parametrize("name", UNPLANNED)
def test_a_restamped_card_of_other_cells_than_planned_is_refused_by_every_reader(name: str, tmp_path: Path) -> None:
    change, said = UNPLANNED[name]
    data = restamped(change)
    card, problems = verify_bytes(data)
    assert card is not None and said in problems[-1]
    assert any(said in line for line in verify_card(data, shared()[2]).problems)
    file = tmp_path / "card.json"
    file.write_bytes(data)
    with pytest.raises(VerifyError, match=re.escape(said.partition(": ")[2] or said)):
        read_card_file(data, "card").whole()
    for depth in Depth:
        found = verify_path(file, shared()[2], None, depth)
        assert any(said in line for line in found.problems)


def test_a_figure_written_in_another_way_is_no_card() -> None:
    def write(value: Any) -> None:
        value["stamp"]["run"]["concurrency"] = "2"

    assert not verify_card(restamped(write), shared()[2]).ok


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_of_any_blob_is_named_with_its_user(data: st.DataObject) -> None:
    card, whole, store = shared()
    name = data.draw(st.sampled_from(sorted(store.digests())))
    path = blob_path(store, name)
    good = path.read_bytes()
    if good:
        place = data.draw(st.integers(0, len(good) - 1))
        bad = good[:place] + bytes([good[place] ^ data.draw(st.integers(1, 255))]) + good[place + 1 :]
    else:
        bad = b"x"
    path.write_bytes(bad)
    try:
        result = verify_card(whole, store, card.id)
    finally:
        path.write_bytes(good)
    assert any(name in line and "try" in line for line in result.problems)


def test_a_missing_and_a_truncated_blob_are_named(tmp_path: Path) -> None:
    card, path, store = whole_run(tmp_path)
    record = card.stamp.evidence[1].record
    assert record is not None
    out = next(name for name in store.digests() if name != record.digest)
    blob_path(store, out).unlink()
    os.truncate(blob_path(store, record), record.size // 2)
    problems = verify_card(path.read_bytes(), store).problems
    assert any(out in line and "not in the store" in line for line in problems)
    assert any(record.digest in line and f"({record.size // 2} bytes)" in line for line in problems)
    blob_path(store, record).unlink()
    blob_path(store, record).mkdir()
    problems = verify_card(path.read_bytes(), store).problems
    assert any(record.digest in line and "not in the store" in line for line in problems), "a folder is no blob"


def test_a_manifest_that_is_none_is_named(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "blobs")
    of = plan(1, 1, 1)
    evidence = make_evidence(store, of, {})
    (digest_of, record), *_ = evidence.records.items()
    fake = store.put(b"[]", "application/json")
    assert record.capture is not None
    forged = record.model_copy(update={"capture": record.capture.model_copy(update={"manifest": fake})})
    with pytest.raises(VerifyError):
        list(attempt_blobs(store, forged))
    assert digest_of != sha256_bytes(b"")


def test_an_unfinished_run_has_no_card(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    evidence = make_evidence(store, plan(1, 1, 2), {plan(1, 1, 2).cells()[0]: [None]})
    with pytest.raises(UserError, match="has not ended; trialbox run --resume"):
        make_card(evidence, MADE)


def test_the_core_does_not_depend_on_how_the_run_went(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    of = plan()
    calm = make_card(make_evidence(store, of, {}), MADE)
    rough = make_card(
        make_evidence(
            store,
            of,
            {
                of.cells()[0]: [None, None, Attempt(joules=90, seconds=60)],
                of.cells()[3]: [Attempt(Outcome.INFRA, None), Attempt(seconds=9)],
            },
        ),
        replace_run(MADE, run_id="ba9876543210", concurrency=1, runs_known=7, interventions=()),
    )
    assert calm.core_digest == rough.core_digest
    assert calm.id != rough.id
    assert set(Core.model_fields) == {
        "schema_version",
        "plan_id",
        "plan",
        "cells",
        "aggregates",
        "selection",
        "statistics",
        "comparisons",
    }


def test_cards_are_found_by_id_beginning_path_or_latest(tmp_path: Path) -> None:
    card, path, _ = whole_run(tmp_path)
    folder = path.parent
    assert card_ids(folder) == (card.id,)
    for name in (card.id, card.id[7:], card.id[:16], "latest", str(path)):
        assert find_card(folder, name) == path
    for name in ("sha256:123", "abcdefgh", str(tmp_path / "no.json")):
        with pytest.raises(UserError):
            find_card(folder, name)
    twin = folder / f"{path.stem[:-1]}{'0' if path.stem[-1] != '0' else '1'}.json"
    shutil.copy(path, twin)
    with pytest.raises(UserError, match="more than one"):
        find_card(folder, card.id[:20])
    assert verify_bytes(twin.read_bytes(), f"sha256:{twin.stem}")[1] == [
        f"id: this is card {card.id}, not sha256:{twin.stem}"
    ]


def test_differences_are_named_by_path() -> None:
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "x") == "x.a[1].b"
    assert first_difference({"a": 1}, {"a": 1, "c": 2}, "x") == "x.c"
    assert first_difference([1], [1, 2], "x") == "x"
    assert first_difference({"a": 1}, {"a": 1}, "x") is None


def test_energy_is_settled_into_the_idle_power_after_the_run_and_drift_is_flagged(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "blobs")
    before = make_evidence(store, plan(), {})
    after = idle_baseline(56, at_us=4_000_000_000_000_000)
    records = {name: settled(record, after, store) for name, record in before.records.items()}
    card = make_card(Evidence(before.plan, before.tries, records, after), MADE)
    energies = [cell.energy for cell in card.measured.cells]
    assert all(
        energy is not None and EnergyFlag.IDLE_DRIFT in energy.flags and not energy.reliable for energy in energies
    )
    assert verify_card(card.to_bytes(), store, card.id).ok
    unsettled = make_card(Evidence(before.plan, before.tries, before.records, after), MADE)
    assert verify_card(unsettled.to_bytes(), store).problems[0].startswith("measured.cells[0].energy.")
    for other in (
        after.model_copy(update={"measured_us": -1}),
        after.model_copy(update={"host_fingerprint": "sha256:" + "7" * 64}),
    ):
        assert all(settled(record, other, store) is record for record in before.records.values())


def test_an_energy_figure_that_does_not_follow_from_its_readings_is_noticed(tmp_path: Path) -> None:
    """A publisher who changes a figure in the record itself, and stamps everything anew, is found by the readings."""
    store = LocalStore(tmp_path)
    of = plan()
    made = make_evidence(store, of, {})
    (line, *others), records = made.tries, dict(made.records)
    assert line.record is not None
    record = records.pop(line.record.digest)
    assert record.solve is not None and record.solve.energy.active_uj is not None
    less = record.solve.energy.model_copy(update={"active_uj": record.solve.energy.active_uj // 2})
    lie = record.model_copy(update={"solve": record.solve.model_copy(update={"energy": less})})
    altered = try_of(store, lie)
    assert altered.record is not None
    card = make_card(Evidence(of, (altered, *others), {**records, altered.record.digest: lie}), MADE)
    (problem,) = verify_card(card.to_bytes(), store).problems
    assert "does not follow from its readings" in problem

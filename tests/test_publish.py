"""What blocks a card is named, what is published is labelled, and the index of it notices every change.

Most cards here are made from constructed evidence of a real run; one comes from a real run in containers, whose model
is a scripted server on loopback that the settings call a local one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.digest import canonical, loads
from harness.energy.records import EnergyFlag
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import VerifyError
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.script import Script, Turn
from harness.ledger import Ledger
from harness.outcomes import Outcome
from harness.records import Coverage, ImageRef, Judge, JudgeKind, Judging, Plan, RunMode, to_value
from harness.store import LocalStore
from harness.suites.lock import Standing
from scoring.card import Card, make_card, write_card
from scoring.evidence import Evidence
from scoring.publish import Index, Label, blocks, labels, read_index, with_card
from scoring.report.text import make_report
from scoring.stamp import AuditStatus
from tests.card_rig import MADE, Attempt, make_evidence, replace_run
from tests.cli_rig import trialbox
from tests.plans import ZERO, plan

CLEAN = MADE.harness.model_copy(update={"commit": "a" * 40, "dirty": False})
REAL = plan().model_copy(update={"mode": RunMode.REAL, "provider": "local"})
DRIFTED = ImageRef(name="python", id=ZERO, lock=ZERO, drift=True)


def made(folder: Path, of: Plan = REAL, **changes: object) -> Card:
    """A card that may be published, but for what is changed."""
    circumstances = {"harness": CLEAN, "certified": True, "concurrency": 1, "interventions": (), **changes}
    evidence = make_evidence(LocalStore(folder / "blobs"), of, {})
    card = make_card(evidence, replace_run(MADE, **circumstances))
    write_card(folder / "cards", card)
    return card


def changed(**changes: object) -> Plan:
    return REAL.model_copy(update=changes)


def judged(kind: JudgeKind) -> Plan:
    return changed(judging=Judging(protocol=ZERO, kind=kind, panel=(Judge(model="m", lab="l"),)))


@pytest.mark.parametrize(
    ("named", "of", "circumstances"),
    [
        ("mode: dry, provider local", changed(mode=RunMode.DRY), {}),
        ("mode: real, provider scripted", changed(provider="scripted"), {}),
        ("dirty tree: the harness had changes", REAL, {"harness": CLEAN.model_copy(update={"dirty": True})}),
        ("dirty tree: it is not known which code ran", REAL, {"harness": MADE.harness}),
        ("image drift: python", changed(images=(DRIFTED,)), {}),
        ("suite lock: s 1.0.0 is not what", REAL, {"suite_lock": Standing.CHANGED}),
        ("judge: a stub judge", judged(JudgeKind.STUB), {}),
        ("judge: a replay judge", judged(JudgeKind.REPLAY), {}),
        ("energy: uncertified (run it", REAL, {"certified": False}),
        ("energy: said to be certified, but 2 attempts ran at once", REAL, {"concurrency": 2}),
    ],
)
def test_each_block_is_named(tmp_path: Path, named: str, of: Plan, circumstances: dict[str, object]) -> None:
    assert blocks(made(tmp_path)) == blocks(made(tmp_path, judged(JudgeKind.MODEL))) == ()
    (reason,) = blocks(made(tmp_path, of, **circumstances))
    assert reason.startswith(named)


def test_all_blocks_are_named_at_once(tmp_path: Path) -> None:
    of = changed(mode=RunMode.DRY, images=(DRIFTED,))
    card = made(tmp_path, of, harness=MADE.harness, certified=False)
    assert [reason.split(":")[0] for reason in blocks(card)] == ["mode", "dirty tree", "image drift", "energy"]


def test_marks_on_an_uncertified_energy_are_named(tmp_path: Path) -> None:
    card = made(tmp_path, certified=False)
    solvers = {
        name: one.model_copy(update={"flags": (EnergyFlag.QUICK_IDLE, EnergyFlag.COARSE)})
        for name, one in card.measured.solvers.items()
    }
    quick = card.model_copy(update={"measured": card.measured.model_copy(update={"solvers": solvers})})
    assert blocks(quick)[0].startswith("energy: uncertified and ~ (quick_idle) (run it with --certified")
    run = card.stamp.run.model_copy(update={"certified": True})
    lie = quick.model_copy(update={"stamp": quick.stamp.model_copy(update={"run": run})})
    assert blocks(lie) == ("energy: said to be certified, but stands on a quick idle calibration",)


def test_watched_but_never_audited_is_blocked_and_unwatched_is_labelled(tmp_path: Path) -> None:
    unwatched = made(tmp_path)
    assert unwatched.stamp.audit.status is AuditStatus.UNVERIFIABLE
    assert Label.UNVERIFIABLE in labels(unwatched)
    evidence = make_evidence(LocalStore(tmp_path / "blobs"), REAL, {})
    watched = {
        name: one.model_copy(
            update={"traces": tuple(t.model_copy(update={"coverage": Coverage.FULL, "reason": ""}) for t in one.traces)}
        )
        for name, one in evidence.records.items()
    }
    card = make_card(
        Evidence(REAL, evidence.tries, watched),
        replace_run(MADE, harness=CLEAN, certified=True, concurrency=1),
    )
    assert card.stamp.audit.status is AuditStatus.NOT_AUDITED
    (reason,) = blocks(card)
    assert reason.startswith("unaudited: ")


def test_a_part_of_a_suite_is_never_listed_as_the_whole(tmp_path: Path) -> None:
    of = changed(partial=True)
    card = made(tmp_path, of)
    assert blocks(card) == ()
    assert labels(card) == (Label.PARTIAL, Label.UNVERIFIABLE)
    home = tmp_path
    ran = trialbox(home, "card", "publish", card.id)
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"{card.id} is published as partial, audit: unverifiable")
    assert "(partial)" in trialbox(home, "card", "list").out
    for shown in (trialbox(home, "card", "show", card.id).out, trialbox(home, "report", card.id).out):
        assert "(partial: tasks of the suite were left out)" in shown


def test_a_suite_that_nobody_locked_is_a_label_and_older_cards_say_nothing(tmp_path: Path) -> None:
    older, locked, unlocked = (made(tmp_path, suite_lock=one) for one in (None, Standing.LOCKED, Standing.UNLOCKED))
    assert blocks(unlocked) == blocks(older) == ()
    assert Label.UNLOCKED_SUITE in labels(unlocked)
    assert labels(older) == labels(locked) == tuple(x for x in labels(unlocked) if x is not Label.UNLOCKED_SUITE)
    assert "suite_lock" not in to_value(older.stamp.run)
    assert len({one.core_digest for one in (older, locked, unlocked)}) == 1, "a lock moves no score"
    assert [line for line in make_report(unlocked).head if "lock" in line] == [
        "nobody locked the suite's version; its hash alone says what it is"
    ]
    assert not any("lock" in line for line in make_report(locked).head)


def test_too_many_exclusions_are_a_label(tmp_path: Path) -> None:
    evidence = make_evidence(
        LocalStore(tmp_path / "blobs"), REAL, {REAL.cells()[0]: [Attempt(Outcome.INFRA, None, kind="host")]}
    )
    assert Label.INCOMPLETE in labels(make_card(evidence, MADE))


# -------------------------------------------------------------------------------------------------------------- index


def filled(folder: Path, number: int = 3) -> Index:
    index = Index()
    for n in range(number):
        index = with_card(index, made(folder, run_id=f"{n:012x}"), 1_000 + n)
    return index


def test_an_index_is_read_back_and_each_entry_names_the_one_before(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert read_index(index.to_bytes(), "index") == index
    assert [one.prev for one in index.entries[1:]] == [one.digest for one in index.entries[:-1]]
    assert read_index(Index().to_bytes(), "index") == Index()
    assert index.entries[0].runs_known == 1


def test_a_link_that_does_not_hold_is_named(tmp_path: Path) -> None:
    index = filled(tmp_path)
    one, two, three = index.entries
    for entries, named in (
        ((one, three), "entry 1"),
        ((two, one, three), "entry 0"),
        ((one, two.model_copy(update={"at_us": 5}), three), "entry 2"),
        ((one, two, three.model_copy(update={"runs_known": 9})), "last entry"),
        ((one, two), "last entry"),
    ):
        with pytest.raises(VerifyError, match=named):
            read_index(index.model_copy(update={"entries": entries}).to_bytes(), "index")


def test_a_damaged_index_is_one_line_with_the_place_and_the_remedy(tmp_path: Path) -> None:
    whole = filled(tmp_path).to_bytes()
    for data, said in (
        (whole[:-5], "is damaged (is no Index: "),
        (b"", "is damaged (is no Index: Expecting value"),
        (b"null", "is damaged (is no Index: Input should be a valid"),
        (whole.replace(b'"seq":1', b'"seq":-1'), "is damaged (is no Index: entries.1.seq: Input should be greater"),
        (b"[" * 100_000, "is damaged (is no Index: nests too deep"),
    ):
        with pytest.raises(VerifyError) as caught:
            read_index(data, "index.json")
        assert str(caught.value).startswith(f"index.json: {said}")
        assert str(caught.value).endswith("); put back a copy: what was published stays")
        assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_changed_byte_of_an_index_is_noticed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = _shared(tmp_path_factory)
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    with pytest.raises(VerifyError):
        read_index(whole[:place] + bytes([byte]) + whole[place + 1 :], "index")


_KEPT: list[bytes] = []


def _shared(factory: pytest.TempPathFactory) -> bytes:
    if not _KEPT:
        _KEPT.append(filled(factory.mktemp("index"), 2).to_bytes())
    return _KEPT[0]


def test_publishing_appends_once_and_tampering_is_found_by_list_and_publish(tmp_path: Path) -> None:
    home = tmp_path
    first, second = made(home), made(home, run_id="ba9876543210")
    refused = made(home, changed(mode=RunMode.DRY))
    ran = trialbox(home, "card", "publish", refused.id, "--json")
    assert (ran.code, ran.json["error"]["exit_code"]) == (4, 4)
    assert "can't be published: mode: dry" in ran.json["error"]["problem"]
    index = home / "cards" / "index.json"
    assert not index.exists()
    ran = trialbox(home, "card", "publish", first.id, "--json")
    assert (ran.code, ran.json["card"], ran.json["new"], ran.json["runs_known"]) == (0, first.id, True, 1)
    assert trialbox(home, "card", "publish", first.id, "--json").json["new"] is False
    assert trialbox(home, "card", "publish", str(home / "cards" / f"{second.id[7:]}.json")).code == 0
    whole = index.read_bytes()
    assert [one["card"] for one in loads(whole)["entries"]] == [first.id, second.id]
    listed = trialbox(home, "card", "list", "--json").json
    assert (listed["published"], listed["index_problem"]) == (2, None)
    value = loads(whole)
    cut = Index.model_validate({**value, "entries": value["entries"][:1], "head": value["entries"][1]["prev"]})
    value["entries"][0]["labels"] = []
    for tampered, named in ((canonical(value), "broken at entry 1"), (cut.to_bytes(), "entry 1 is gone")):
        index.write_bytes(tampered)
        listing = trialbox(home, "card", "list")
        assert listing.code == 1
        assert named in listing.out
        ran = trialbox(home, "card", "publish", second.id)
        assert (ran.code, index.read_bytes()) == (3, tampered)
        assert named in ran.line
    index.write_bytes(whole)
    with Ledger(home / "ledger.db") as ledger:
        assert len(ledger.published()) == 2


def test_a_card_whose_evidence_is_gone_is_not_published(tmp_path: Path) -> None:
    card = made(tmp_path)
    record = next(one.record for one in card.stamp.evidence if one.record)
    (tmp_path / "blobs" / "sha256" / record.digest[7:9] / record.digest[9:]).unlink()
    ran = trialbox(tmp_path, "card", "publish", card.id)
    assert ran.code == 2
    assert record.digest in ran.line
    assert not (tmp_path / "cards" / "index.json").exists()


def test_a_clock_that_was_set_back_is_named(tmp_path: Path) -> None:
    first, second = made(tmp_path), made(tmp_path, run_id="ba9876543210")
    index = with_card(Index(), first, 9_000_000_000_000_000)
    (tmp_path / "cards" / "index.json").write_bytes(index.to_bytes())
    ran = trialbox(tmp_path, "card", "publish", second.id)
    assert ran.code == 2
    assert "clock" in ran.line


# --------------------------------------------------------------------------------------------------- in real containers


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Path]:
    """A state folder with a model of one's own on loopback."""
    home = tmp_path / "state"
    home.mkdir()
    with ScriptedProvider() as server:
        key = server.add(Script(turns=(Turn(say="```python\nx = 1\n```", done=True),)))
        settings_file = f'[providers.mine]\nurl = "{server.url}/v1"\ncredential = "MINE_KEY"\nbilling = "local"\n'
        (home / "config.toml").write_text(settings_file)
        (home / "key").write_text(key)
        yield home


@pytest.mark.engine
@pytest.mark.slow
def test_a_real_run_by_a_local_model_is_blocked_only_by_its_tree_and_the_missing_audit(
    engine: Engine, images: dict[str, BuiltImage], local: Path
) -> None:
    arguments = ("run", "functions", "--limit", "1", "--solver", "worker:model=m,provider=mine", "--real", "--json")
    ran = trialbox(local, *arguments, "--energy", "off", MINE_KEY=(local / "key").read_text())
    assert ran.code == 0, ran.err
    assert (ran.json["mode"], ran.json["provider"]) == ("real", "local")
    card = json.loads(trialbox(local, "card", "show", "latest", "--json").out)
    assert [one["kind"] for one in card["stamp"]["run"]["interventions"]] == ["exclusion"]
    assert card["stamp"]["run"]["ledger"].startswith("sha256:")
    expected = ["dirty tree"] if card["stamp"]["harness"]["dirty"] is not False else []
    expected += ["unaudited"] if "audited" not in card["stamp"]["audit"] else []
    done = trialbox(local, "card", "publish", "latest", "--json")
    assert done.code == (4 if expected else 0)
    if expected:
        reasons = done.json["error"]["problem"].removeprefix("can't be published: ").split("; ")
        assert [reason.split(":")[0] for reason in reasons] == expected
    else:
        assert "partial" in done.json["labels"]

"""Cards of earlier versions load and verify for ever; what this version can't read exactly is named and refused."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness.digest import canonical, digest, loads
from harness.store import LocalStore
from scoring import wording
from scoring.board import board_of
from scoring.card import Card, card_id, section_digests
from scoring.reading import read_board
from scoring.report.text import make_report
from scoring.schema import card_schema, published_schema, schema_path, schema_text
from scoring.verify import verify_bytes, verify_card
from tests.card_rig import whole_run
from tests.cli_rig import trialbox

OLDER = {
    "before-models": "sha256:6ffdfaa8e817b0ffc5485f9f13651333fd301f66e712f1a2909ac2ff24279df6",
    "before-statistics": "sha256:0ad29d1478e71994ab8130e0e75be1f79333e43a1e8ca40f71a1925320e339fe",
}
"""Real runs of one task of ``smoke``, by what their code did not yet have."""
DATA = Path(__file__).parent / "data" / "cards"


def unpacked(name: str, folder: Path) -> Path:
    """The state folder of an earlier version's run."""
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder)  # our own file; Python 3.11.2 has no filters
    return folder


@pytest.mark.parametrize(("name", "identity"), OLDER.items())
def test_a_card_of_an_earlier_version_loads_verifies_and_keeps_its_bytes(
    tmp_path: Path, name: str, identity: str
) -> None:
    home = unpacked(name, tmp_path)
    path = home / "cards" / f"{identity[7:]}.json"
    data = path.read_bytes()
    result = verify_card(data, LocalStore(home / "blobs"), identity)
    assert result.problems == ()
    assert result.card is not None
    assert result.card.to_bytes() == data
    assert make_report(result.card).last == f"card {identity}"
    assert read_board(path, name, identity) == board_of(result.card)


def test_earlier_cards_are_shown_compared_and_verified_by_the_command(tmp_path: Path) -> None:
    for name in OLDER:
        unpacked(name, tmp_path)
    one, two = OLDER.values()
    assert {card["id"] for card in trialbox(tmp_path, "card", "list", "--json").json["cards"]} == {one, two}
    shown = trialbox(tmp_path, "card", "show", one)
    assert shown.code == 0
    assert "what went in, by hash" in shown.out
    ran = trialbox(tmp_path, "compare", one, two)
    assert (ran.code, "not separated" in ran.out) in {(0, True), (4, False)}, ran.err
    for identity in (one, two):
        path = tmp_path / "cards" / f"{identity[7:]}.json"
        assert digest({k: v for k, v in loads(path.read_bytes()).items() if k != "id"}) == identity, "never rewritten"


# ------------------------------------------------------------------------------------------------------------- schema


def test_the_published_schema_is_the_models_own() -> None:
    assert schema_path().read_bytes() == schema_text(), "run `python -m scoring.schema`"


def test_the_schema_names_every_field_and_forbids_others() -> None:
    schema = card_schema()
    assert set(schema["required"]) == set(Card.model_fields) - {"schema_version"}
    assert schema["properties"]["schema_version"]["const"] == 1
    loose = [name for name, one in schema["$defs"].items() if one.get("type") == "object" and _open(one)]
    assert loose == []


def _open(definition: dict[str, Any]) -> bool:
    return definition.get("additionalProperties") is not False


def test_the_command_prints_it(tmp_path: Path) -> None:
    assert trialbox(tmp_path, "card", "schema").out.encode() == published_schema()


# ------------------------------------------------------------------------------------------------------------- refused


def restamped(data: bytes, **changes: Any) -> bytes:
    """A card with other values and all its digests anew."""
    value = {**loads(data), **changes}
    value["core_digest"], value["sections"] = digest(value["core"]), section_digests(value)
    return canonical({**value, "id": card_id(value)})


@pytest.fixture
def data(tmp_path: Path) -> bytes:
    return whole_run(tmp_path)[1].read_bytes()


def test_a_card_of_a_later_schema_is_named(tmp_path: Path, data: bytes) -> None:
    later = restamped(data, schema_version=2)
    said = "schema_version: 2 is of a later trialbox; this one reads up to 1"
    assert verify_bytes(later) == (None, [said])
    shapeless = canonical({"schema_version": 3, "id": "x", "everything": "else"})
    assert verify_bytes(shapeless)[1] == [said.replace("2", "3")]
    file = tmp_path / "later.json"
    file.write_bytes(later)
    for command in (("card", "show", str(file)), ("compare", str(file), str(file)), ("card", "publish", str(file))):
        ran = trialbox(tmp_path / "state", *command)
        assert ran.code == 2
        assert said in ran.line
        assert "upgrade trialbox" in ran.line
    tampered = data.replace(b'"schema_version":1,"sections"', b'"schema_version":2,"sections"')
    assert verify_bytes(tampered)[1] == ["schema_version: was changed"]


def test_a_duplicate_key_is_named(data: bytes) -> None:
    for twice in (data.replace(b'{"core":', b'{"core":1,"core":', 1), data.replace(b'"pids":', b'"pids":1,"pids":', 1)):
        assert twice != data
        card, problems = verify_bytes(twice)
        assert card is None
        assert "duplicate key" in problems[0]


@pytest.mark.parametrize("number", ["9007199254740992", "-9007199254740992", "9" * 30, "1" * 5000])
def test_a_number_that_not_every_reader_holds_is_named(data: bytes, number: str) -> None:
    card, problems = verify_bytes(data.replace(b'"concurrency":2', b'"concurrency":' + number.encode(), 1))
    assert card is None
    assert "is beyond 2^53-1" in problems[0]
    assert number[:20] in problems[0]
    assert len(problems[0]) < 120
    whole = data.replace(b'"concurrency":2', b'"concurrency":9007199254740991', 1)
    assert "beyond" not in verify_bytes(whole)[1][0]


# ------------------------------------------------------------------------------------------------------------- content


def test_a_card_says_what_it_must_and_shows_all_that_went_in(tmp_path: Path) -> None:
    card, _, _ = whole_run(tmp_path)
    limits = " ".join(card.stamp.limits)
    for words in (
        "indicators of work on these tasks, not of readiness",
        "not a human rating",
        "clean in the evidence that was available",
        "vouched for by its publisher alone",
        "not comparable across vendors",
        "a new run of a model may differ",
    ):
        assert words in limits
    assert set(card.stamp.glossary) == set(wording.GLOSSARY)
    assert {"pass@1", "pass@k", "pass^k", "effort", "decontamination", "parity", "routing"} < set(card.stamp.glossary)
    shown = trialbox(tmp_path, "card", "show", "latest").out
    plan, stamp = card.core.plan, card.stamp
    hashes = [
        plan.suite.hash,
        plan.formula,
        plan.id,
        *(one.manifest for one in plan.solvers),
        card.core_digest,
        card.id,
    ]
    for text in (
        *hashes,
        *(task.score_hash for task in plan.tasks),
        *stamp.limits,
        "known runs of it: 1",
        "resume: 1 abandoned",
        "coverage of web",
        "denominators",
        "solved/counted",
        "raw: solved/planned",
        "abandoned",
        "pass^k: ",
        f"trialbox {stamp.harness.version}, commit unknown",
        "nobody judged",
        stamp.host.cpu_model,
    ):
        assert text in shown, text

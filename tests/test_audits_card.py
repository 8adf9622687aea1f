"""An audit on a card: boards, clean beside raw, the record by digest; older cards load; the command says all of it."""

from __future__ import annotations

import base64
import datetime
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from audits.basis import basis_of
from audits.cutoffs import Cutoff, find, table, training_of
from audits.overlap import MIN_TOKENS, calibrated, overlap, runs_of
from audits.records import Access, Axis, Citation, Kind, Relation, RunAudit, Source, State
from audits.run import Tried, audit_run
from harness.digest import sha256_bytes
from harness.ledger import Ledger
from harness.outcomes import Outcome
from harness.records import BlobRef, Cell, Plan, RunMode, from_json, to_json
from harness.suites.load import load_suite
from harness.traces.records import FILESYSTEM
from scoring.audited import make_audited
from scoring.card import Card, make_card
from scoring.report.text import make_report
from scoring.stamp import AuditStatus
from scoring.verify import verify_card
from tests.audits_rig import DECOY, NONCE, Room, basis, end, marker, opened
from tests.audits_samples import claude, swe_agent
from tests.card_rig import MADE, make_evidence, try_of, whole_run
from tests.cli_rig import trialbox
from tests.plans import ZERO, plan

SHIPPED = Path(__file__).parent.parent / "tasks" / "repos" / "almanac" / "task.toml"
BASIS = BlobRef(digest=ZERO, size=0, media_type="application/json")


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def agents(**changes: object) -> Plan:
    """A plan whose solvers are real agents."""
    made = plan()
    solvers = tuple(one.model_copy(update={"kind": "cli"}) for one in made.solvers)
    return made.model_copy(update={"solvers": solvers, "mode": RunMode.REAL, **changes})


def tried(room: Room, of: Plan, cell: Cell, *args: object, **how: object) -> Tried:
    record = room.attempt(*args, **how).model_copy(update={"cell": cell, "plan": of.id})  # type: ignore[arg-type]
    return Tried(sha256_bytes(to_json(record)), record, final=True)


def four(room: Room) -> tuple[Plan, RunAudit]:
    """The first solver's four attempts: a clean pass, a contaminated one, a clean failure, one that nobody watched."""
    of = agents()
    cells = [cell for cell in of.cells() if cell.solver == "a0"]
    shown = [room.asked(b"{}", b"ok"), room.asked(NONCE.encode(), b"ok")]
    tries = [
        tried(room, of, cells[0], outcome=Outcome.SOLVED),
        tried(room, of, cells[1], [marker(), opened(DECOY), end()]),
        tried(room, of, cells[2], exchanges=shown, outcome=Outcome.SOLVED),
        tried(room, of, cells[3], None, outcome=Outcome.SOLVED),
    ]
    graded = tries[0].record.grade
    assert graded is not None
    record = tries[0].record.model_copy(update={"grade": graded.model_copy(update={"nonce": NONCE})})
    tries[0] = Tried(tries[0].digest, record, final=True)
    bases = {"t0": (basis(), BASIS), "t1": (basis(), BASIS)}
    return of, audit_run(of, tries, room.store, bases)


def test_the_board_tells_passes_and_contamination_apart_and_raw_from_clean(room: Room) -> None:
    of, audit = four(room)
    board = audit.boards["a0"]
    assert (board.pass_clean, board.pass_contaminated, board.fail_clean, board.fail_contaminated) == (1, 1, 1, 0)
    assert (board.pass_unverifiable, board.fail_unverifiable, board.attempted) == (1, 0, 2)
    audited = make_audited(audit, BASIS)
    row = audited.rows["a0"]
    assert row.raw.value == "0.750000"
    assert (row.clean.value, row.clean.reason) == (None, "1 of 4 attempts can't be verified")
    assert row.clean_at_least.value == "0.250000"
    assert not audited.verifiable
    assert audit.plan == of.id
    assert from_json(RunAudit, to_json(audit)) == audit


def test_another_gradings_nonce_is_looked_for_in_every_attempt_at_its_task(room: Room) -> None:
    of = agents()
    first, second = (cell for cell in of.cells() if cell.task == "t0" and cell.solver == "a0")
    early = tried(room, of, first)
    assert early.record.grade is not None
    graded = early.record.model_copy(update={"grade": early.record.grade.model_copy(update={"nonce": NONCE})})
    late = tried(room, of, second, exchanges=[room.asked(b"{}", b"ok"), room.asked(NONCE.encode(), b"ok")])
    audit = audit_run(of, [Tried(early.digest, graded, final=True), late], room.store, {})
    verdict = audit.attempts[1].axes[Axis.FILESYSTEM]
    assert verdict.name == "exposed: nonce"
    assert "grading of" in verdict.findings[0].detail
    assert audit.attempts[0].axes[Axis.FILESYSTEM].state is State.CLEAN_PARTIAL


def test_a_retry_is_audited_and_only_the_last_try_is_on_the_board(room: Room) -> None:
    of = agents()
    cell = of.cells()[0]
    lost = tried(room, of, cell, None, outcome=Outcome.ERRORED)
    last = tried(room, of, cell, outcome=Outcome.SOLVED)
    tries = [
        Tried("sha256:" + "1" * 64, lost.record, final=False),
        Tried("sha256:" + "2" * 64, last.record.model_copy(update={"attempt_try": 2}), final=True),
    ]
    audit = audit_run(of, tries, room.store, {"t0": (basis(), BASIS)})
    assert len(audit.attempts) == 2
    assert audit.boards["a0"].pass_clean == 1
    assert make_audited(audit, BASIS).cells[cell.key].standing == "clean"


# ------------------------------------------------------------------------------------------------------------- the card


def test_a_card_names_its_audit_and_shows_it_and_one_without_keeps_its_bytes(tmp_path: Path) -> None:
    card, path, store = whole_run(tmp_path)
    raw = json.loads(path.read_bytes())
    assert "audited" not in raw["stamp"]["audit"]
    assert Card.from_bytes(path.read_bytes(), "card").stamp.audit.audited is None
    of = plan()
    evidence = make_evidence(store, of, {})
    tries = [
        Tried(one.record.digest, evidence.records[one.record.digest], final=True)
        for one in evidence.tries
        if one.record
    ]
    audit = audit_run(of, tries, store, {})
    audited = make_audited(audit, store.put(to_json(audit), "application/json"))
    stamped = make_card(evidence, MADE.model_copy(update={"audited": audited}))
    assert stamped.stamp.audit.audited == audited
    assert stamped.stamp.audit.status is AuditStatus.UNVERIFIABLE
    assert Card.from_bytes(stamped.to_bytes(), "card") == stamped
    assert verify_card(stamped.to_bytes(), store).ok
    better = audited.rows["a0"].model_copy(update={"clean": audited.rows["a0"].clean_at_least})
    for wrong, why in (
        (audited.model_copy(update={"rows": {**audited.rows, "a0": better}}), "is not what the audit gives"),
        (audited.model_copy(update={"record": store.put(b"{}", "application/json")}), "is no RunAudit"),
    ):
        edited = make_card(evidence, MADE.model_copy(update={"audited": wrong}))
        assert any(why in one for one in verify_card(edited.to_bytes(), store).problems)
    other = audit.model_copy(update={"attempts": audit.attempts[1:]})
    partial = make_audited(other, store.put(to_json(other), "application/json"))
    edited = make_card(evidence, MADE.model_copy(update={"audited": partial}))
    assert "stamp.audit: the audit is of other attempts" in verify_card(edited.to_bytes(), store).problems
    report = make_report(stamped)
    titles = [one.title for one in report.tables]
    assert "audit: passed or not, clean or contaminated" in titles
    assert any(audited.record.digest in one for one in report.notes)
    assert "audit" not in " ".join(one.title for one in make_report(card).tables)


# ------------------------------------------------------------------------------------------------- training and overlap


def test_the_cutoff_table_is_dated_and_sourced_and_the_longest_name_counts() -> None:
    rows = table()
    assert all("read 20" in one.source for one in rows)
    assert len({one.model for one in rows}) == len(rows)
    found = find("anthropic/Claude-Opus-5-20260724")
    assert found is not None
    assert (found.model, found.kind) == ("claude-opus-5", "training")
    assert find("claude-opus-5-5") != found
    for unknown in ("claude-opus-5-mini", "nobody", "claude", "x-claude-opus-5"):
        assert find(unknown) is None


def test_training_is_judged_by_dates_and_unknown_stays_unknown() -> None:
    day = datetime.date.fromisoformat
    rows = (
        Cutoff(model="old", cutoff=day("2025-01-31"), kind="training", source="s"),
        Cutoff(model="vague", cutoff=day("2025-01-31"), kind="knowledge", source="s"),
    )
    upstream = basis(project="p", first_public="2024-05-01", merged="2025-03-01")
    cases = [
        (["old"], upstream, Relation.PRE_CUTOFF),
        (["old"], basis(project="p", first_public="2025-02-01", merged="2025-03-01"), Relation.POST_CUTOFF),
        (["old"], basis(project="p", merged="2025-03-01"), Relation.DATES_UNKNOWN),
        (["old"], basis(project="p", merged="2025-01-31"), Relation.PRE_CUTOFF),
        (["old"], basis(created="2026-11-30"), Relation.POST_CUTOFF),
        (["old"], basis(created="2026-11-30", first_public="2024-01-01"), Relation.PRE_CUTOFF),
        (["vague"], basis(created="2026-11-30"), Relation.CUTOFF_UNKNOWN),
        (["vague"], upstream, Relation.PRE_CUTOFF),
        (["old", "nobody"], upstream, Relation.CUTOFF_UNKNOWN),
        (["unknown"], upstream, Relation.CUTOFF_UNKNOWN),
        (["old"], None, Relation.DATES_UNKNOWN),
        ([], upstream, Relation.NO_MODEL),
    ]
    for models, about, relation in cases:
        assert training_of(models, about, (), rows).relation is relation, (models, relation)
    recalled = (Citation(source=Source.WEB, seq=1),)
    assert training_of(["old"], upstream, recalled, rows).recalled == recalled


REFERENCE = "\n".join(f"def step_{n}(value):\n    return value * {n} + compute_offset({n})" for n in range(12))


def test_overlap_counts_only_what_the_task_does_not_show() -> None:
    known = frozenset[int]()
    reference = runs_of(REFERENCE, known)
    whole = overlap(reference, frozenset(), reference)
    none = overlap(reference, frozenset(), runs_of("class Other:\n    pass\n", known))
    half = overlap(reference, frozenset(), runs_of(REFERENCE[: len(REFERENCE) // 2], known))
    assert whole is not None
    assert none is not None
    assert half is not None
    assert (whole.containment, none.containment, none.longest_run) == ("1.000", "0.000", 1)
    assert Fraction("0.4") < Fraction(half.containment) < Fraction("0.6")
    assert whole.longest_run == whole.reference_tokens >= MIN_TOKENS
    assert runs_of(REFERENCE, frozenset(map(_key, REFERENCE.splitlines()))) == ()
    assert overlap((), frozenset(), reference) is None


def _key(line: str) -> int:
    from audits.overlap import line_key

    return line_key(line)


def test_overlap_is_a_flag_only_where_three_others_say_what_is_usual() -> None:
    reference = runs_of(REFERENCE, frozenset())
    whole = overlap(reference, frozenset(), reference)
    assert whole is not None
    assert not calibrated(whole, ["0.200", "0.100"]).flagged
    judged = calibrated(whole, ["0.200", "0.100", "0.300"])
    assert (judged.flagged, judged.threshold, judged.independent) == (True, "0.300", 3)
    assert not calibrated(whole, ["1.000", "0.100", "0.300"]).flagged


def test_a_high_overlap_flags_and_decides_nothing_unless_something_was_exposed(room: Room) -> None:
    names = [f"a{n}" for n in range(5)]
    made = agents()
    solvers = tuple(made.solvers[0].model_copy(update={"name": name}) for name in names)
    of = made.model_copy(update={"solvers": solvers, "attempts": 1, "tasks": made.tasks[:1]})
    about = basis(reference=runs_of(REFERENCE, frozenset()))
    tries = []
    for number, cell in enumerate(of.cells()):
        change = {"a.py": REFERENCE.encode()} if number == 0 else {"a.py": f"x = {number}\n".encode()}
        tries.append(tried(room, of, cell, outcome=Outcome.SOLVED, change=change))
    audit = audit_run(of, tries, room.store, {"t0": (about, BASIS)})
    verdict = audit.attempts[0].axes[Axis.FILESYSTEM]
    assert (verdict.state, [one.kind for one in verdict.findings]) == (State.CLEAN, [Kind.HIGH_OVERLAP])
    assert audit.attempts[0].overlap is not None
    assert audit.attempts[0].overlap.independent == 4
    assert not any(one.axes[Axis.FILESYSTEM].findings for one in audit.attempts[1:])
    seen = [marker(), opened("/solution/other.sh"), end()]
    tries[0] = tried(room, of, of.cells()[0], seen, outcome=Outcome.SOLVED, change={"a.py": REFERENCE.encode()})
    retrieved = audit_run(of, tries, room.store, {"t0": (about, BASIS)}).attempts[0]
    assert retrieved.axes[Axis.FILESYSTEM].name == "retrieved: high_overlap"
    assert retrieved.access is Access.USED


def test_the_reference_in_the_first_request_is_the_harnesss_doing(room: Room) -> None:
    about = basis(reference=runs_of(REFERENCE, frozenset()))
    body = json.dumps({"system": "Use this.\n" + REFERENCE}).encode()
    audit = room.audit(room.attempt(exchanges=[room.asked(body, b"ok")]), basis=about)
    assert audit.axes[Axis.SUBMITTER].name == "submitter_leak: harness_leak"
    later = [room.asked(b"{}", b"ok"), room.asked(body, b"ok")]
    assert room.audit(room.attempt(exchanges=later), basis=about).axes[Axis.SUBMITTER].state is State.CLEAN


def test_a_tasks_basis_has_its_canaries_dates_and_reference() -> None:
    root = Path(__file__).parent.parent / "tasks"
    suite = load_suite(root / "smoke")
    for task in suite.tasks:
        ref = plan().tasks[0].model_copy(update={"task": task.id})
        made = basis_of(task, ref)
        names = {f"trialbox-public-{made.public}": made.public, f"trialbox-exposure-{made.exposure}": made.exposure}
        assert {name for name, digits in names.items() if digits} == set(task.canaries)
        assert made.reference
        assert made.earliest == "2026-11-30" or made.created
        shown = "\n".join(entry.data.decode() for entry in task.before.values())
        assert runs_of(shown, frozenset(map(_key, shown.splitlines()))) == ()
        assert from_json(type(made), to_json(made)) == made


# ---------------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A run of one agent in a state folder, ended but without a card; then with one."""
    folder = tmp_path / "state"
    whole_run(folder)
    return folder


def test_the_command_audits_a_card_a_run_and_a_file_without_an_engine(home: Path, tmp_path: Path) -> None:
    of = plan()
    room = Room(home)
    with Ledger(home / "ledger.db") as ledger:
        run = ledger.create_run(of, {})
        cell = of.cells()[0]
        number = ledger.start_try(run, cell)
        record = room.attempt([marker(), opened(DECOY), end()]).model_copy(update={"cell": cell, "plan": of.id})
        line = try_of(room.store, record)
        assert line.record is not None
        ledger.finish(run, cell, number, record.outcome, line.record, terminal=True)
    nowhere = {"DOCKER_HOST": "unix:///nowhere", "CONTAINER_HOST": "unix:///nowhere"}
    found = trialbox(home, "audit", run, "--json", **nowhere)
    assert (found.code, found.json["attack"], found.json["as_stamped"]) == (1, True, None)
    verdict = found.json["audit"]["attempts"][0]["axes"]["filesystem"]
    assert (verdict["kind"], verdict["findings"][0]["cites"][0]) == (
        "honeytoken",
        {"source": FILESYSTEM, "seq": 1, "at": DECOY},
    )
    text = trialbox(home, "audit", run, **nowhere)
    assert "attempted_empty: honeytoken" in text.out
    assert text.out.splitlines()[-1].startswith("an attack was found")
    card = next((home / "cards").glob("*.json"))
    old = trialbox(home, "audit", str(card), **nowhere)
    assert (old.code, "can't be verified" in old.out.splitlines()[-1]) == (0, True)


def test_the_command_audits_trajectories_and_says_what_it_could_not_read(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(claude())
    found = trialbox(home, "audit", str(file), "--json")
    assert (found.code, found.json["audit"]["format"], found.json["attack"]) == (1, "claude-code", True)
    canary = re.search(rb"trialbox-exposure-[0-9a-f]+", SHIPPED.read_bytes())
    assert canary is not None
    file.write_bytes(claude().replace(b"#!/bin/sh", base64.b64encode(canary[0])))
    leaked = trialbox(home, "audit", str(file))
    assert "exposure_canary" in leaked.out
    assert "exposure canary of repos/almanac" in leaked.out
    honest = tmp_path / "honest.traj"
    honest.write_bytes(json.dumps({"trajectory": [{"action": "pytest -q", "observation": "1 passed"}]}).encode())
    clean = trialbox(home, "audit", str(honest))
    assert (clean.code, "clean_partial" in clean.out, "clean " in clean.out.split("clean_partial")[0]) == (
        0,
        True,
        False,
    )
    broken = tmp_path / "broken.traj"
    broken.write_bytes(swe_agent()[:-200])
    cut = trialbox(home, "audit", str(broken), "--json")
    assert cut.json["audit"]["coverage"] == "partial"
    assert "no whole JSON" in cut.json["audit"]["reason"]
    wrong = trialbox(home, "audit", str(tmp_path / "absent.jsonl"))
    assert (wrong.code, len(wrong.err.strip().splitlines())) == (2, 1)
    assert Access.EXPOSED.value in found.out

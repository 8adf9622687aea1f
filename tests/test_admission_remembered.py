"""An admission is taken up again for the very same task alone: hashes, images, rules, and what its suite asks for."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.digest import sha256_bytes
from harness.engine.images import BuiltImage
from harness.errors import InfraError
from harness.ledger import CacheKind, Ledger
from harness.progress import Silent
from harness.records import ImageRef
from harness.store import LocalStore
from harness.suites.admission.check import Subject, rules
from harness.suites.admission.frontier import frontier
from harness.suites.admission.records import Admission
from harness.suites.admission.remembered import Remembered
from harness.suites.hashing import ScoreBasis, task_ref
from tests.admission_rig import loaded, write_little
from tests.suites_rig import edit
from trialbox import checking
from trialbox.commands.suite_check import as_value


def _images(**ids: str) -> dict[str, BuiltImage]:
    names = {"base": "1", "python": "2", "clock": "3"} | ids
    refs = {
        name: ImageRef(name=name, id=sha256_bytes(text.encode()), lock=sha256_bytes(name.encode()))
        for name, text in names.items()
    }
    return {name: BuiltImage(ref=ref, handle=ref.id, archive=Path("none"), size=None) for name, ref in refs.items()}


def _subject(folder: Path) -> Subject:
    suite = loaded(folder)
    basis = ScoreBasis({name: image.ref.lock for name, image in _images().items()})
    return Subject(suite.tasks[0], task_ref(suite, suite.tasks[0], basis), suite, frontier([]))


def _admission(subject: Subject, *reasons: str) -> Admission:
    return Admission(
        id=subject.task.id,
        suite=subject.suite.name,
        version=subject.suite.version,
        format=subject.task.spec.format,
        score_hash=subject.ref.score_hash,
        authoring_hash=subject.ref.authoring_hash,
        images=(),
        rules=rules(),
        admitted=not reasons,
        reasons=reasons,
        frontier=subject.frontier,
        wall_us=1,
    )


def test_what_another_admission_could_come_of_is_looked_at_again(tmp_path: Path) -> None:
    folder = write_little(tmp_path / "little")
    edit(folder / "suite.toml", "require_checklist = true\n", "")
    store = LocalStore(tmp_path / "blobs")
    with Ledger(tmp_path / "ledger.db") as ledger:
        remembered, subject = Remembered(ledger, store, _images()), _subject(folder)
        remembered.keep(subject, _admission(subject, "mutants: survives"))
        assert remembered.get(subject) is None
        made = _admission(subject)
        remembered.keep(subject, made)
        assert remembered.get(subject) == made

        for name in ("base", "python", "clock"):
            assert Remembered(ledger, store, _images(**{name: "9"})).get(subject) is None
        edit(folder / "suite.toml", 'tasks = ["spans"]', 'require_checklist = true\ntasks = ["spans"]')
        assert remembered.get(_subject(folder)) is None
        other = replace(subject, ref=subject.ref.model_copy(update={"authoring_hash": sha256_bytes(b"")}))
        assert remembered.get(other) is None


def test_where_the_engine_fails_at_a_task_the_others_are_looked_at_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's failure is made here: a real one can't be had at one task and not at the next."""
    folder = write_little(tmp_path / "little")
    shutil.copytree(folder / "spans", folder / "stretches")
    edit(folder / "suite.toml", 'tasks = ["spans"]', 'tasks = ["spans", "stretches"]')
    suite = loaded(folder)
    basis = ScoreBasis({name: image.ref.lock for name, image in _images().items()})
    store = LocalStore(tmp_path / "blobs")

    def check_task(subject: Subject, _: object) -> Admission:
        if subject.task.id == "spans":
            raise InfraError("the engine", "failed to start a container")
        return _admission(subject)

    monkeypatch.setattr(checking, "check_task", check_task)
    bench: Any = SimpleNamespace(tools=SimpleNamespace(store=store, images=_images()))
    with Ledger(tmp_path / "ledger.db") as ledger:
        for keep_going in (False, True):
            request = checking.CheckRequest(keep_going=keep_going, fresh=True)
            checker = checking._Checker(request, bench, ledger, Silent())
            if not keep_going:
                with pytest.raises(InfraError, match="failed to start"):
                    checker.suite(suite, suite.tasks, basis)
                continue
            result = checker.suite(suite, suite.tasks, basis)
    assert [one.admission.id for one in result.tasks] == ["stretches"]
    assert list(result.unfinished) == ["spans"]
    checked = checking.Checked((result,), 1, "sha256:0")
    assert (result.admitted, checked.admitted, checked.finished) == (False, False, False)
    (told,) = as_value(checked)["suites"][0]["unfinished"]
    assert (told["task"], told["problem"]) == ("spans", "failed to start a container")


def test_a_record_of_an_earlier_version_is_none(tmp_path: Path) -> None:
    subject = _subject(write_little(tmp_path / "little"))
    store = LocalStore(tmp_path / "blobs")
    with Ledger(tmp_path / "ledger.db") as ledger:
        remembered = Remembered(ledger, store, _images())
        ledger.keep(CacheKind.ADMISSION, remembered._key(subject), store.put(b'{"id":"spans"}', "application/json"))
        assert remembered.get(subject) is None

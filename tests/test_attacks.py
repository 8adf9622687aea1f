"""Known attacks end in their named verdicts and honest controls unflagged: a few here, all in `nox -s attacks`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from tests.attacks.elsewhere import CATALOGUE, NO_PROBE
from tests.attacks.page import PAGE, make_page
from tests.attacks.pair import Row, Stage, all_rows
from tests.attacks.planted import PLANTS, planted, script
from tests.attacks.run import needs_engine, run_row
from tests.attacks.workshop import Workshop, make_workshop

_HERE = {"AT-01b", "CA-09", "CA-12c", "GR-02", "GR-20e", "SC-05e", "RP-02"}
"""Run with the tests; all others by `nox -s attacks`."""
EACH = [pytest.param(row, id=row.id, marks=() if row.id in _HERE else pytest.mark.attacks) for row in all_rows()]


@pytest.fixture
def workshop(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Workshop:
    return make_workshop(engine, images, tmp_path, owner)


def test_every_known_attack_is_a_probe_or_has_a_reason() -> None:
    rows = all_rows()
    built = {row.catalogue for row in rows}
    assert len(CATALOGUE) == 89
    assert built | NO_PROBE.keys() == CATALOGUE
    assert not built & NO_PROBE.keys()
    assert len({row.id for row in rows}) == len(rows) >= 60
    assert {row.pair.stage for row in rows} == set(Stage)


def test_honest_work_that_is_often_taken_for_an_attack_is_among_the_controls() -> None:
    honest = {row.pair.honest for row in all_rows()}
    assert honest >= {
        "edits the dependencies in pyproject.toml",
        "adds a test file",
        "adds a conftest.py in a new folder",
        "renames a module",
        "deletes a module that nothing uses",
    }


def test_the_page_is_of_these_rows() -> None:
    assert PAGE.read_text() == make_page(all_rows()), "python -m tests.attacks --write"


@pytest.mark.engine
@pytest.mark.parametrize("row", EACH)
def test_an_attack_ends_in_its_verdict_and_its_control_is_not_flagged(row: Row, request: pytest.FixtureRequest) -> None:
    workshop = request.getfixturevalue("workshop") if needs_engine(row) else None
    result = run_row(row, workshop)
    assert result.wrong == (), result


def test_the_planted_payloads_do_run_where_git_is_asked(tmp_path: Path) -> None:
    """The proof that the next test can fail: in a repository of our own, on this machine, each leaves its mark."""
    marks = tmp_path / "marks"
    marks.mkdir()
    for number, names in enumerate(
        (("hooks", "fsmonitor"), ("clean", "process"), ("textconv", "command"), ("external",))
    ):
        repo = tmp_path / str(number)
        repo.mkdir()
        _git(
            repo,
            "git init -q; echo x | tee README.md > a.py; git add -A; git -c user.name=a -c user.email=a@b commit -qm x",
        )
        _git(repo, script(marks, *names))
        _git(repo, "echo more >> README.md; git status; git add -A; git diff --ext-diff HEAD")
    ran = {one.name.removeprefix("ran-") for one in marks.iterdir()}
    assert {"hooks", "fsmonitor", "clean", "process", "textconv", "external", "command"} <= ran


def _git(repo: Path, commands: str) -> None:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(repo)}
    subprocess.run(["sh", "-c", commands], cwd=repo, env=environ, capture_output=True, check=False, timeout=60)


@pytest.mark.engine
def test_no_git_configuration_leaves_a_trace_on_the_host(workshop: Workshop) -> None:
    facts = _planted(workshop, *PLANTS)
    assert "solved" in facts
    assert "host: no trace" in facts
    assert not any(fact.startswith("host: ran") for fact in facts)


def _planted(workshop: Workshop, *names: str) -> list[str]:
    found: Iterator[str] = iter(planted(*names).work(workshop))
    return list(found)

"""What a solver plants in its git store works on whoever runs git there, and not through capture and grading.

Both halves are of the same tree: it is planted by a real attempt, which hands it out as it was left, store and all.
That nothing came of it on the host says something because each payload works once git is run on a copy.
"""

from __future__ import annotations

import base64
import os
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.change import apply
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord, ChangeManifest
from harness.outcomes import Outcome
from harness.records import from_json
from tests.attacks.git_programs import PROGRAMS
from tests.attacks.git_stores import STORES
from tests.attacks.planted import Payload, Planting, host, marks, script
from tests.attempt_rig import GOOD, LIMITS, Rig, make_rig, small_task

PLANTINGS = (*PROGRAMS, *STORES)
_TASK = small_task(LIMITS.model_copy(update={"wall_s": 60, "grade_wall_s": 60, "output_kb": 4096}))
_SETTINGS = "[safe]\n\tdirectory = *\n[user]\n\tname = reviewer\n\temail = reviewer@host.test\n"
_BEGIN = """
git init -q -b main; git config user.name a; git config user.email a@example.test; git add -A; git commit -qm one
git commit -q --allow-empty -m two; echo new > README.md; echo new > new.md
"""
_TERMINAL = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])'"


def _attempt(rig: Rig, planting: Planting, folder: Path) -> AttemptRecord:
    """A solver that does the task, plants, and says the whole tree, packed."""
    fix = f"exec 3>&1 > /dev/null; printf '%s' '{GOOD}' > pkg/words.py"
    return rig.attempt(f"{fix}\n{textwrap.dedent(script(planting, folder))}\ntar -cz . | base64 >&3", task=_TASK)


def _unpack(packed: bytes, place: Path) -> Path:
    place.mkdir(parents=True)
    subprocess.run(["tar", "-xz"], cwd=place, input=packed, check=True, timeout=60)
    return place


def _has_effect(payload: Payload, tree: Path, folder: Path) -> bool:
    """Run the payload's command, as a reviewer would who trusts the folder."""
    for old in folder.glob("ran-*"):
        old.unlink()
    home = tree.parent
    (home / "settings").write_text(_SETTINGS)
    said = subprocess.run(
        ["sh", "-c", payload.command.replace("{terminal}", _TERMINAL)],
        cwd=tree,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LC_ALL": "C",
            "TERM": "xterm",
            "EDITOR": "true",
            "PAGER": "cat",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(home / "settings"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return payload.shows.encode() in said.stdout if payload.shows else payload.name in marks(folder)


def _files(tree: Path) -> dict[str, bytes]:
    found = (one for one in tree.rglob("*") if one.is_file() and not one.is_symlink())
    names = ((str(one.relative_to(tree)), one) for one in found)
    return {name: one.read_bytes() for name, one in names if not name.startswith(".git/") and name != ".git"}


def _captured(record: AttemptRecord, rig: Rig) -> dict[str, bytes]:
    assert record.capture is not None
    assert record.capture.manifest is not None
    change = from_json(ChangeManifest, rig.store.get(record.capture.manifest.digest))
    return {path: entry.data for path, entry in apply(_TASK.before, change, rig.store).items()}


@pytest.mark.engine
@pytest.mark.parametrize("planting", PLANTINGS, ids=lambda one: one.name)
def test_a_planted_payload_works_where_git_is_run_and_not_through_capture_and_grading(
    planting: Planting, engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str
) -> None:
    folder = tmp_path / "host"
    host(folder)
    rig = make_rig(engine, images, tmp_path, owner)
    record = _attempt(rig, planting, folder)
    assert marks(folder) == [], "run on the host"
    assert record.solve is not None
    packed = base64.b64decode(rig.text(record.solve.stdout))
    trees = {one.name: _unpack(packed, tmp_path / "copies" / one.name / "tree") for one in planting.payloads}

    if planting.rejected is None:
        assert (record.outcome, record.reason) == (Outcome.SOLVED, "")
        assert _captured(record, rig) == _files(next(iter(trees.values()))), "other bytes than the solver left"
    else:
        assert (record.outcome, record.kind) == (Outcome.REJECTED, planting.rejected.value)

    idle = [one.name for one in planting.payloads if not _has_effect(one, trees[one.name], folder)]
    assert idle == [], f"no effect where git is run: {rig.text(record.solve.stderr)}"


@pytest.mark.parametrize("planting", PLANTINGS, ids=lambda one: one.name)
def test_the_same_commands_have_no_such_effect_where_nothing_is_planted(planting: Planting, tmp_path: Path) -> None:
    folder = tmp_path / "host"
    host(folder)
    for payload in planting.payloads:
        tree = tmp_path / payload.name / "tree"
        (tree / "pkg").mkdir(parents=True)
        (tree / "pkg" / "words.py").write_text(GOOD)
        (tree / "README.md").write_text("words\n")
        subprocess.run(["sh", "-c", _BEGIN], cwd=tree, check=True, timeout=60)
        assert not _has_effect(payload, tree, folder), payload.name


def test_every_payload_has_a_name_of_its_own() -> None:
    names = [payload.name for planting in PLANTINGS for payload in planting.payloads]
    assert len(set(names)) == len(names) >= 75

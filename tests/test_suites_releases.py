"""The suite of public releases that ships: what it promises on paper, and what each task's image may not hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.releases import Releases, user_cache
from harness.suites.formats.common import AuthorKind, CandidateKind
from harness.suites.formats.repo import RepoTask
from harness.suites.formats.source import MAX_CHANGED_LINES
from harness.suites.groups import GroupKind, Trust
from harness.suites.load import load_suite, load_task
from harness.suites.task import Suite, Task
from harness.suites.tree import Tree

FOLDER = Path(__file__).parent.parent / "tasks" / "releases"
IDS = [path.parent.name for path in sorted(FOLDER.glob("*/task.toml"))]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(FOLDER, releases=Releases.fetching(print))


@pytest.fixture(params=IDS)
def task(request: pytest.FixtureRequest, suite: Suite) -> Task:
    return suite.task(request.param)


def spec_of(task: Task) -> RepoTask:
    assert isinstance(task.spec, RepoTask)
    return task.spec


def test_four_different_projects(suite: Suite) -> None:
    assert len(suite.tasks) >= 4
    sources = [spec_of(task).source for task in suite.tasks]
    assert len({source.project for source in sources if source}) == len(suite.tasks)
    canaries = [canary for task in suite.tasks for canary in task.canaries]
    assert len(set(canaries)) == 2 * len(suite.tasks)


def test_it_loads_again_with_nothing_fetched(task: Task) -> None:
    again = load_task(task.folder, Releases(user_cache()))
    assert (again.before, again.reference, again.wrong) == (task.before, task.reference, task.wrong)


def test_provenance_says_where_it_comes_from(task: Task) -> None:
    spec = spec_of(task)
    assert spec.source is not None
    assert spec.provenance.author_kind is AuthorKind.UPSTREAM
    assert not spec.provenance.decontaminated
    assert spec.provenance.licence == "MIT"
    upstream = spec.provenance.upstream
    assert upstream is not None
    assert (upstream.project, upstream.version) == (spec.source.project, spec.source.version)
    assert upstream.fix
    assert upstream.fix_date
    assert upstream.merged
    assert upstream.first_public
    assert upstream.first_public <= upstream.merged
    assert "LICENSE" in task.before


def test_the_groups_and_the_ladder(task: Task) -> None:
    kinds = [group.kind for group in task.groups]
    assert kinds.count(GroupKind.BEHAVIOUR) >= 2
    assert kinds.count(GroupKind.REGRESSION) >= 2
    assert task.trust is Trust.HOST_HELD
    assert {one.kind for one in task.wrong} == set(CandidateKind)
    assert spec_of(task).checklist


def test_the_reference_is_small_and_is_one_fix(task: Task) -> None:
    spec = spec_of(task)
    assert spec.fix is not None
    assert {hunk.file for hunk in spec.fix.hunks} == set(task.reference.overlay)
    assert task.reference.tree is not None
    changed = sum(abs(len(_lines(task.reference.tree, path)) - len(_lines(task.before, path))) for path in task.before)
    assert changed <= MAX_CHANGED_LINES
    assert not any("version" in path for path in task.reference.overlay)


def _lines(tree: Tree, path: str) -> list[bytes]:
    return tree[path].data.splitlines()


def test_nothing_of_the_project_s_is_committed(task: Task) -> None:
    """No two neighbouring lines of either tree stand in the task's folder, and no line that is long."""
    assert task.reference.tree is not None
    committed = [path for path in task.folder.rglob("*") if path.is_file()]
    assert not any({"before", "reference", "wrong"} & set(path.relative_to(task.folder).parts) for path in committed)
    text = "\n".join(path.read_text() for path in committed)
    text += "\n".join(probe for path in committed if path.suffix == ".json" for probe in _probes(path))
    for tree in (task.before, task.reference.tree):
        for path, entry in tree.items():
            if path.endswith(".py") and path not in task.visible_tests:
                lines = [line.strip() for line in entry.data.decode().splitlines()]
                told = [line for line in lines if len(line) > 60 and line in text]
                assert [line for line in told if not _only_matched(line, task)] == [], path
                whole = [(one, two) for one, two in pairwise(lines) if len(one) > 20 < len(two)]
                assert [pair for pair in whole if "\n".join(pair) in text] == [], path


def _probes(path: Path) -> list[str]:
    commands = json.loads(path.read_text()).get("commands", [])
    return [text for command in commands for text in command.get("files", {}).values()]


def _only_matched(line: str, task: Task) -> bool:
    """Whether it is the words that an edit looks for."""
    return any(line in edit.find for one in spec_of(task).wrong for edit in one.edit)


def test_the_cache_keeps_the_start_and_the_hunks_alone(task: Task) -> None:
    """Of the later release not even the name of its archive is left, nor a line beside the hunks."""
    spec = spec_of(task)
    assert spec.source is not None
    assert spec.fix is not None
    later, start = (one.sha256.removeprefix("sha256:") for one in (spec.fix, spec.source))
    names = [path.name for path in user_cache().rglob("*")]
    assert f"{start}.tar.gz" in names
    assert not any(later in name for name in names)
    assert {path.suffix for path in (user_cache() / "fixes").iterdir()} == {".json"}
    assert {path.suffix for path in (user_cache() / "sources").iterdir()} == {".gz"}


@pytest.mark.engine
def test_no_image_has_the_project_installed(
    engine: Engine, images: Mapping[str, BuiltImage], owner: str, suite: Suite
) -> None:
    modules = sorted(spec_of(task).source.project for task in suite.tasks)  # type: ignore[union-attr]
    program = "import importlib.util, sys\nprint([name for name in sys.argv[1:] if importlib.util.find_spec(name)])"
    spec = SandboxSpec(role=Role.PROBE, image=images["python"].handle, workdir="/tmp")
    with Sandbox(engine, spec, owner) as sandbox:
        done = sandbox.run(("python3", "-c", program, *modules), timeout_s=50, max_output=4096)
    assert done.stdout.decode().strip() == "[]"

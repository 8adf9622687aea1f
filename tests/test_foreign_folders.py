"""Harbor's, Terminal-Bench's and VulcanBench's folders, graded in real containers: the fix is 1.0, nothing is 0.0."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.images.archive import tag
from harness.errors import UserError
from harness.suites.foreign.importing import Kind
from harness.suites.groups import Trust
from harness.suites.load import load_task
from harness.suites.tree import REGULAR, Entry, Tree
from tests.foreign_rig import (
    HARBOR_TOML,
    KETTLE,
    Project,
    Rig,
    harbor_task,
    image_with,
    make_project,
    terminal_task,
    vulcan_task,
    write,
)
from tests.releases_rig import archive, member

pytestmark = pytest.mark.engine


@pytest.fixture
def rig(engine: Engine, images: dict[str, BuiltImage], owner: str) -> Rig:
    return Rig(engine, images, owner)


@pytest.fixture(scope="module")
def base(images: dict[str, BuiltImage]) -> str:
    return tag("python", images["python"].ref.id)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("repos"))


def test_a_harbor_task_without_its_image(rig: Rig, base: str, tmp_path: Path) -> None:
    """What plain COPY lines put into the workspace is the tree; the rest of the Dockerfile is named."""
    harbor_task(tmp_path / "tasks" / "kettle", base)
    report, suite = rig.bring(Kind.HARBOR, tmp_path / "tasks", tmp_path / "kettles")
    (told,), (task,) = report.tasks, suite.tasks
    assert (told.origin, told.dialect, told.trust) == ("acme/kettle", "harbor", Trust.REWARD_FILE)
    assert (task.workspace, set(task.before)) == ("/app", {"kettle/__init__.py"})
    assert (task.limits.wall_s, task.limits.grade_wall_s) == (120, 90)
    names = {one.partition(":")[0] for one in told.not_carried}
    assert {"dockerfile", "root", "container", "image", "fractional_reward"} <= names
    assert names.isdisjoint({"network", "shared_verifier", "gpu", "healthcheck", "unknown_key"})
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


def test_a_harbor_task_whose_dockerfile_is_built_here(rig: Rig, engine: Engine, base: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "kettle", base)
    lines = (f"FROM {base}", "WORKDIR /srv/kettle", "COPY app/ .", "USER root", "RUN echo built > made.txt", "")
    write(folder, {"environment/Dockerfile": "\n".join(lines)})
    report, suite = rig.bring(Kind.HARBOR, folder, tmp_path / "kettles", build=True)
    (task,) = suite.tasks
    try:
        assert task.workspace == "/srv/kettle"
        assert task.before["made.txt"].data == b"built\n"
        assert any("no lock makes it" in one for one in report.tasks[0].not_carried)
        assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))
    finally:
        engine.api.remove_image(rig.image(task), force=True)


def test_all_that_harbor_has_and_we_do_not_is_named(rig: Rig, base: str, tmp_path: Path) -> None:
    toml = HARBOR_TOML.replace('network_mode = "no-network"', "").replace('environment_mode = "separate"', "")
    toml = toml.replace("memory_mb = 700", 'memory = "1G"\nallow_internet = true\ngpus = 1\nshiny = 2') + (
        'mcp_servers = [{name = "x", transport = "sse", url = "http://localhost"}]\n'
        "[environment.healthcheck]\ncommand = 'true'\n[verifier.env]\nTOKEN = '${TOKEN}'\nPLAIN = 'a b'\n"
        "'A B' = '1'\nA-B = '2'\nNUL = \"\\u0000\"\n"
    )
    folder = harbor_task(tmp_path / "kettle", base, toml)
    report, suite = rig.bring(Kind.HARBOR, folder, tmp_path / "kettles")
    names = [one.partition(":")[0] for one in report.tasks[0].not_carried]
    expected = {"network", "verifier_network", "shared_verifier", "gpu", "healthcheck", "mcp_servers", "verifier_env"}
    assert expected <= set(names)
    assert "unknown_key: environment.shiny is no key of Harbor's schema 1.4" in report.tasks[0].not_carried
    assert suite.tasks[0].limits.memory_mb >= 1024
    assert any(one.startswith("created: its files tell no day") for one in report.tasks[0].not_carried)
    script = suite.tasks[0].hidden["verify.sh"].data
    assert b"export PLAIN='a b'" in script
    for name in ("A B", "A-B", "NUL"):
        assert name.encode() not in script
        told = f"verifier_env: {name!r} is not set: no shell can export such a name or value"
        assert told in report.tasks[0].not_carried


def test_a_reward_below_one_or_none_at_all_is_no_pass(rig: Rig, base: str, tmp_path: Path) -> None:
    scripts = {
        "half": "echo 0.5 > /logs/verifier/reward.txt",
        "none": "true",
        "nan": "echo nan > /logs/verifier/reward.txt",
        "odd": 'echo \'{"a": 1, "b": 0.9}\' > /logs/verifier/reward.json',
        "good": 'echo \'{"a": 1, "b": 2}\' > /logs/verifier/reward.json; exit 9',
    }
    for name, script in scripts.items():
        folder = harbor_task(tmp_path / "tasks" / name, base, HARBOR_TOML.replace("acme/kettle", f"acme/{name}"))
        write(folder, {"tests/test.sh": f"#!/bin/bash\n{script}\n"})
    _, suite = rig.bring(Kind.HARBOR, tmp_path / "tasks", tmp_path / "kettles")
    scores = {task.id.removeprefix("acme-"): rig.score(task, task.reference.tree, tmp_path) for task in suite.tasks}
    assert scores == {"good": 1, "half": 0, "nan": 0, "none": 0, "odd": 0}


def test_what_an_earlier_group_left_is_no_reward_of_a_later_one(rig: Rig, base: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "tasks" / "kettle", base)
    leaves = "echo 1 > /logs/verifier/reward.txt\nmkdir -p /logs/.x/y\nchmod 0 /logs/.x\n"
    write(folder, {"tests/test.sh": f"#!/bin/bash\n{leaves}"})
    _, suite = rig.bring(Kind.HARBOR, tmp_path / "tasks", tmp_path / "kettles")
    made = tmp_path / "kettles" / suite.tasks[0].id
    second = '\n[[groups]]\nname = "second"\nkind = "behaviour"\noracle = "reward"\nscript = "hidden/none.sh"\n'
    write(made, {"task.toml": (made / "task.toml").read_text() + second, "hidden/none.sh": "exit 1\n"})
    task = load_task(made)
    assert rig.score(task, task.reference.tree, tmp_path) == Fraction(1, 2)


def test_a_solution_that_changes_nothing_here_leaves_the_task_without_a_reference(
    rig: Rig, base: str, tmp_path: Path
) -> None:
    folder = harbor_task(tmp_path / "kettle", base)
    write(folder, {"solution/solve.sh": "touch /etc/solved\n"})
    report, suite = rig.bring(Kind.HARBOR, folder, tmp_path / "kettles")
    assert not report.tasks[0].has_reference
    assert {"solution", "reference"} <= {one.partition(":")[0] for one in report.tasks[0].not_carried}
    assert suite.tasks[0].reference.tree == suite.tasks[0].before


def test_a_terminal_bench_task(rig: Rig, base: str, tmp_path: Path) -> None:
    terminal_task(tmp_path / "tasks" / "kettle", base)
    report, suite = rig.bring(Kind.TERMINAL_BENCH, tmp_path / "tasks", tmp_path / "kettles")
    (told,), (task,) = report.tasks, suite.tasks
    assert (told.id, told.trust, task.prompt) == ("kettle", Trust.REWARD_FILE, "Make boil() right.")
    assert {"shared_verifier", "network", "root", "services"} <= {one.partition(":")[0] for one in told.not_carried}
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda tar: tar[:20] + b"x" * 20 + tar[40:], "is no gzipped tar"),
        (lambda _: archive([member("a", b"1"), member("a", b"2")]), "a comes twice"),
        (lambda _: archive([member("a/b", b"1"), member("a/b/c", b"2")]), "is both a file and a folder"),
    ],
)
def test_a_snapshot_that_can_not_be_read(
    rig: Rig, project: Project, tmp_path: Path, damage: Callable[[bytes], bytes], said: str
) -> None:
    folder = vulcan_task(tmp_path / "kettle", project)
    shutil.rmtree(folder / "repo")
    (folder / "snapshot.tar.gz").write_bytes(damage(archive([member("r/a", b"a" * 500), member("r/b")])))
    with pytest.raises(UserError, match=said):
        rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "kettles")


def test_a_snapshot_is_read_up_to_a_limit(
    rig: Rig, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = vulcan_task(tmp_path / "kettle", project)
    shutil.rmtree(folder / "repo")
    (folder / "snapshot.tar.gz").write_bytes(archive([member("r/a", bytes(3 << 20))]))
    monkeypatch.setattr("harness.suites.foreign.vulcan.MAX_BYTES", 2 << 20)
    with pytest.raises(UserError, match="holds over 2 MiB"):
        rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "kettles")


@pytest.mark.parametrize("packed", [False, True])
def test_a_vulcan_bench_task(rig: Rig, project: Project, tmp_path: Path, packed: bool) -> None:
    folder = vulcan_task(tmp_path / "kettle", project)
    told = (folder / "metadata.json").read_text()  # the benchmark itself says `python`, which our image does not have
    write(folder, {"metadata.json": told.replace("python3 -m", "PYTHONPATH=. python -m")})
    if packed:
        with tarfile.open(folder / "repo_snapshot.tar.gz", "w:gz") as tar:
            tar.add(folder / "repo", arcname="repo")
        for path in sorted((folder / "repo").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        (folder / "repo").rmdir()
    report, suite = rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "kettles")
    (task,) = suite.tasks
    assert report.tasks[0].trust is Trust.EXIT_STATUS
    assert [group.name for group in task.groups] == ["must-boil", "keeps-name"]
    assert rig.scores(task, tmp_path) == (Fraction(1), Fraction(0))
    breaker = task.before.overlay(
        Tree([Entry("kettle/__init__.py", REGULAR, KETTLE.replace("99", "100").replace('"kettle"', '"pot"').encode())])
    )
    assert rig.score(task, breaker, tmp_path) == 0


def test_tests_of_one_name_are_told_apart(rig: Rig, project: Project, tmp_path: Path) -> None:
    folder = vulcan_task(tmp_path / "kettle", project)
    told = json.loads((folder / "metadata.json").read_text())
    told["tests"]["fail_to_pass"] = [
        {"name": name, "cmd": "true"} for name in ("a", "a", "a-2", "A", "x" * 60, "x" * 60)
    ]
    write(folder, {"metadata.json": json.dumps(told)})
    _, suite = rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "kettles")
    names = [group.name for group in suite.tasks[0].groups]
    assert names[:4] == ["must-a", "must-a-2", "must-a-2-2", "must-a-3"]
    assert len(set(names)) == len(names) == 7


def test_a_pinned_image_that_is_gone_is_named(
    rig: Rig, images: dict[str, BuiltImage], project: Project, tmp_path: Path
) -> None:
    folder = vulcan_task(tmp_path / "kettle", project)
    with image_with(rig.engine, images["python"].handle, "/app", {"a": "b"}) as image:
        _, suite = rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "kettles", image=image)
        assert rig.image(suite.tasks[0]).startswith("sha256:")
    with pytest.raises(UserError, match="is not in this engine"):
        rig.image(suite.tasks[0])
    with pytest.raises(UserError, match="neither a recipe of ours nor in this engine"):
        rig.bring(Kind.VULCAN_BENCH, folder, tmp_path / "again", image="acme/none:latest")

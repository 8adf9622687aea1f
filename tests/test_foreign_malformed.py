"""Every malformed file: one line with file, field and expected shape; nothing half-imported; the rest on request."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import UserError
from harness.suites.foreign.environment import inspect
from harness.suites.foreign.importing import Kind
from harness.suites.foreign.predictions import read_predictions
from harness.suites.foreign.rows import Row, read_each, read_rows
from harness.suites.foreign.swebench_rows import parse_instance
from harness.suites.foreign.task_repository import read_yaml
from tests.foreign_rig import (
    HARBOR_TOML,
    Project,
    Rig,
    classic,
    harbor_task,
    make_project,
    save_rows,
    terminal_task,
    vulcan_task,
    write,
)

NOWHERE = Project(Path("/nowhere"), "a" * 40, "--- a/x\n", "", "")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", "{}\n{broken\n", "a.jsonl: line 2: is not JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl: line 1: is no object but list; expected one object for each instance"),
        ("a.json", '"text"', "a.json: holds no list of instances"),
        ("a.json", '[{"a": 1}, 2]', "a.json: item 2: is no object but int"),
        ("a.json", '{"x": 3}', "a.json: x: is no object but int"),
        ("a.json", '{"x": {"a": 1, "a": 2}}', "duplicate key"),
        ("a.json", "[NaN]", "NaN is not JSON"),
        ("a.json", '{"x": {"instance_id": "y"}}', "a.json: x: has another instance_id than its key"),
        ("a.csv", "a,b\n1\n", "a.csv: row 1: has another number of fields"),
        ("a.csv", 'a,b\n"1,2\n', "a.csv: row 1: is not CSV"),
        ("a.txt", "x", "a.txt: is of no known kind; expected one of .json, .jsonl"),
        ("a.jsonl", b"\xff\xfe\x00", "a.jsonl: is not UTF-8 text"),
    ],
)
def test_rows(tmp_path: Path, name: str, text: str | bytes, said: str) -> None:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as caught:
        list(read_rows(tmp_path / name))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_malformed_line_or_file_leaves_the_others(tmp_path: Path) -> None:
    """What ``--keep-going`` counts on: the reading goes on behind it."""
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n{broken\n[]\n{"x": 2}\n')
    (tmp_path / "b.json").write_text("no")
    (tmp_path / "c.csv").write_text("x\n3,4\n3\n")
    (tmp_path / "d.json").write_text('[5, {"x": 4}]')
    found = list(read_each(tmp_path))
    assert [one.values["x"] for one in found if isinstance(one, Row)] == [1, 2, "3", 4]
    said = [one.where.removeprefix(f"{tmp_path}/") for one in found if isinstance(one, UserError)]
    assert said == ["a.jsonl: line 2", "a.jsonl: line 3", "b.json", "c.csv: row 1", "d.json: item 1"]


def test_an_empty_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no \.json"):
        list(read_rows(tmp_path))
    with pytest.raises(UserError, match="is missing"):
        list(read_rows(tmp_path / "a.jsonl"))


def test_parquet_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UserError, match="needs the package pyarrow; `pip install pyarrow`, or convert the file"):
        list(read_rows(tmp_path / "a.parquet"))


def test_a_broken_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(UserError, match=r"a\.parquet: is not Parquet"):
        list(read_rows(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"FAIL_TO_PASS": "[1"}, "FAIL_TO_PASS: should be a list of test names"),
        ({"FAIL_TO_PASS": 3}, "FAIL_TO_PASS: should be a list of test names"),
        ({"FAIL_TO_PASS": "{[1]}"}, "FAIL_TO_PASS: should be a list of test names"),
        ({"FAIL_TO_PASS": "['\\ud800']"}, "FAIL_TO_PASS: holds half of a surrogate pair"),
        ({"FAIL_TO_PASS": [1]}, "FAIL_TO_PASS[0]: input should be a valid string, got 1"),
        ({"PASS_TO_PASS": None}, "PASS_TO_PASS: this key is missing"),
        ({"repo": "kettle"}, "repo: string should match pattern"),
        ({"patch": 7}, "patch: input should be a valid string, got 7"),
        ({"instance_id": "a/b"}, "instance_id: string should match pattern"),
        ({"problem_statement": ""}, "problem_statement: string should have at least 1 character"),
        ({"install_config": {"log_parser": "x"}}, "install_config.test_cmd: this key is missing"),
        ({"install_config": {"test_cmd": []}}, "install_config.test_cmd"),
        ({"eval_script": "x", "log_parser": "y"}, "image: this key is missing"),
        ({"test_cmds": []}, "test_cmds: "),
    ],
)
def test_instances(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    (row,) = read_rows(save_rows(tmp_path / "rows.jsonl", classic(NOWHERE, **change)))
    with pytest.raises(UserError) as caught:
        parse_instance(row)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'rows.jsonl'}: line 1")


def test_a_set_of_tests_has_one_order(tmp_path: Path) -> None:
    (row,) = read_rows(save_rows(tmp_path / "rows.jsonl", classic(NOWHERE, FAIL_TO_PASS="{'c', 'a', 'd', 'b'}")))
    assert parse_instance(row).fail == ("a", "b", "c", "d")


def test_a_value_that_no_json_has(tmp_path: Path) -> None:
    """Bytes are what a Parquet column may hold."""
    with pytest.raises(UserError, match="holds what no JSON can: unexpected bytes"):
        parse_instance(Row("a.parquet: row 1", classic(NOWHERE, patch=b"x")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: 2024-13-45\n", "is not YAML: month must be in"),
        ("x: " + "[" * 3000, "is not YAML: maximum recursion depth"),
        ("x: " + "9" * 5000, "is not YAML: Exceeds the limit"),
        ("x: &x [*x]\n", "once its anchors are written out"),
        ("a: &a [1,1,1,1,1,1,1,1]\n" + "".join(
            f"{two}: &{two} [{','.join(['*' + one] * 8)}]\n" for one, two in itertools.pairwise("abcdefgh")
        ), "holds over 100000 values once its anchors are written out"),
    ],
    ids=["date", "depth", "digits", "circle", "bomb"],
)  # fmt: skip
def test_yaml_that_would_end_or_fill_the_import(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(UserError, match=r"task\.yaml: ") as caught:
        read_yaml(tmp_path / "task.yaml")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"model_patch": "x"}], "item 1: instance_id: this key is missing"),
        ([{"instance_id": "a"}], "item 1: needs model_patch (or patch)"),
        ([{"instance_id": "a", "model_patch": 3}], "item 1: model_patch: input should be a valid string, got 3"),
        ([{"instance_id": "a", "model_patch": ""}, {"instance_id": "a", "patch": ""}], "item 2: predicts 'a' again"),
        ([], "holds no prediction"),
    ],
)
def test_predictions(tmp_path: Path, value: Any, said: str) -> None:
    (tmp_path / "preds.json").write_text(json.dumps(value))
    with pytest.raises(UserError) as caught:
        read_predictions(tmp_path / "preds.json")
    assert said in str(caught.value)


# ------------------------------------------------------------------------------------------------- whole imports


@pytest.fixture
def rig(engine: Engine, images: dict[str, BuiltImage], owner: str) -> Rig:
    return Rig(engine, images, owner)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("repos"))


@pytest.mark.engine
@pytest.mark.parametrize("name", ["", "a b", "Upper/x", "a" * 300, "x:" + "t" * 200, "\u00e1"])
def test_what_cannot_name_an_image_names_none(engine: Engine, name: str) -> None:
    assert inspect(engine, name) is None


@pytest.mark.engine
def test_nothing_is_half_imported_and_the_rest_is_on_request(rig: Rig, project: Project, tmp_path: Path) -> None:
    rows = [
        classic(project),
        classic(project, instance_id="acme__kettle-8", patch="--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n"),
        classic(project, instance_id="acme__kettle-9", FAIL_TO_PASS=3),
        classic(project, instance_id="acme__kettle-10", base_commit="f" * 40),
        classic(project, instance_id="acme__kettle-11", FAIL_TO_PASS=["odd name"], PASS_TO_PASS=[]),
        classic(project, instance_id="acme__kettle-12", FAIL_TO_PASS=[]),
        classic(project, instance_id="acme__kettle-14", FAIL_TO_PASS=["t.py::a"], PASS_TO_PASS=["t.py::a"]),
        classic(project, instance_id="acme__kettle-13", repo="acme/pot"),
        classic(project, instance_id="ACME kettle 7"),
    ]
    source = save_rows(tmp_path / "rows.jsonl", *rows)
    output = tmp_path / "kettles"
    with pytest.raises(UserError, match="acme__kettle-8: patch: doesn't apply"):
        rig.bring(Kind.SWE_BENCH, source, output, repos=project.repos)
    assert not output.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
    report, suite = rig.bring(Kind.SWE_BENCH, source, output, repos=project.repos, keep_going=True)
    assert [task.id for task in suite.tasks] == ["acme-kettle-7"]
    said = [str(error) for error in report.failed]
    for text, place in zip(
        (
            "patch: doesn't apply: none: No such file or directory",
            "FAIL_TO_PASS: should be a list of test names",
            "base_commit: ffffffffffff can't be read",
            "FAIL_TO_PASS: no command is known for tests named like 'odd name'",
            "FAIL_TO_PASS: names no test",
            "FAIL_TO_PASS: 't.py::a' is in PASS_TO_PASS as well",
            "holds no repository 'acme/pot'",
            "comes twice: its id here is 'acme-kettle-7'",
        ),
        said,
        strict=True,
    ):
        assert text in place
    told = json.loads((output / "import.json").read_text())
    assert [one["origin"] for one in told["tasks"]] == ["acme__kettle-7"]
    assert len(told["failed"]) == 8
    with pytest.raises(UserError, match="exists already"):
        rig.bring(Kind.SWE_BENCH, source, output, repos=project.repos)


def _harbor(toml: str = HARBOR_TOML, **files: str) -> Callable[[Path, Project], None]:
    def make(folder: Path, _: Project) -> None:
        harbor_task(folder, "trialbox/python:none", toml)
        write(folder, {name.replace("__", "/").replace("_", "."): text for name, text in files.items()})

    return make


def _without(name: str, make: Callable[[Path, Project], Any]) -> Callable[[Path, Project], None]:
    def made(folder: Path, project: Project) -> None:
        make(folder, project)
        (folder / name).unlink()

    return made


def _terminal(**told: str) -> Callable[[Path, Project], None]:
    def make(folder: Path, _: Project) -> None:
        terminal_task(folder, "trialbox/python:none")
        write(folder, {name.replace("_", "."): text for name, text in told.items()})

    return make


def _linked(name: str, make: Callable[[Path, Project], Any]) -> Callable[[Path, Project], None]:
    """The task with one of its files, or of its folders of files, led to a place of the host's."""

    def made(folder: Path, project: Project) -> None:
        make(folder, project)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("/etc" if name.endswith("/etc") else "/etc/passwd")

    return made


def _vulcan(metadata: Any) -> Callable[[Path, Project], None]:
    def make(folder: Path, project: Project) -> None:
        vulcan_task(folder, project)
        (folder / "metadata.json").write_text(json.dumps(metadata))

    return make


@pytest.mark.engine
@pytest.mark.parametrize(
    ("kind", "make", "said"),
    [
        (Kind.HARBOR, _harbor("[task\n"), "task.toml: is not TOML"),
        (Kind.HARBOR, _harbor('[task]\nversion = "1"\n'), "task.toml: task.name: this key is missing"),
        (Kind.HARBOR, _harbor("[environment]\ncpus = 'two'\n"), "task.toml: environment.cpus: "),
        (Kind.HARBOR, _harbor("[environment]\nmemory = 'lots'\n"), "environment.memory: 'lots' is no size; expected a"),
        (Kind.HARBOR, _harbor(f"[environment]\nmemory = '{'9' * 400}G'\n"), "more than a container can have"),
        (Kind.HARBOR, _harbor("[environment]\nmemory_mb = 9999999\n"), "environment.memory_mb: "),
        (Kind.HARBOR, _harbor("[verifier]\ntimeout_sec = inf\n"), "task.toml: verifier.timeout_sec: "),
        (Kind.HARBOR, _harbor("[verifier]\nenvironment_mode = 'x'\n"), "verifier.environment_mode: "),
        (Kind.HARBOR, _harbor("[[steps]]\nname = 'a'\n"), "steps: a task of several steps can't be carried"),
        (Kind.HARBOR, _harbor("[environment]\nos = 'windows'\n"), "environment.os: Windows tasks can't be carried"),
        (Kind.HARBOR, _harbor("[environment]\nworkdir = '/etc/x'\n"), "is a place that the container needs"),
        (Kind.HARBOR, _harbor(instruction_md=" "), "instruction.md: is empty"),
        (Kind.HARBOR, _without("tests/test.sh", _harbor()), "test.sh: is missing; expected the script that writes"),
        (Kind.HARBOR, _without("task.toml", _harbor()), "holds no task: no task.toml"),
        (Kind.HARBOR, _harbor("[metadata.trialbox]\nschema = 2\n"), "metadata.trialbox: schema: "),
        (Kind.TERMINAL_BENCH, _terminal(task_yaml="a: [\n"), "task.yaml: is not YAML"),
        (Kind.TERMINAL_BENCH, _terminal(task_yaml="- a\n"), "task.yaml: holds no mapping"),
        (
            Kind.TERMINAL_BENCH,
            _terminal(task_yaml="instruction: a\nmax_test_timeout_sec: .inf\n"),
            "task.yaml: max_test_timeout_sec: ",
        ),
        (Kind.TERMINAL_BENCH, _terminal(task_yaml="difficulty: easy\n"), "task.yaml: instruction: this key is missing"),
        (
            Kind.TERMINAL_BENCH,
            _terminal(task_yaml="instruction: a\nparser_name: x\n"),
            "parser_name: the results of 'x'",
        ),
        (Kind.TERMINAL_BENCH, _without("run-tests.sh", _terminal()), "run-tests.sh: is missing"),
        (Kind.VULCAN_BENCH, _vulcan({"tests": {}}), "metadata.json: tests.fail_to_pass: this key is missing"),
        (Kind.VULCAN_BENCH, _vulcan({"tests": {"fail_to_pass": [{"name": "a"}]}}), "tests.fail_to_pass[0].cmd: "),
        (
            Kind.VULCAN_BENCH,
            _vulcan({"tests": {"fail_to_pass": [{"name": "a", "cmd": "x\ny\0"}]}}),
            "tests.fail_to_pass[0].cmd: ",
        ),
        (Kind.VULCAN_BENCH, _without("issue.md", vulcan_task), "issue.md: is missing"),
        (Kind.VULCAN_BENCH, _linked("issue.md", vulcan_task), "issue.md: is a link, which may lead anywhere"),
        (Kind.HARBOR, _linked("instruction.md", _harbor()), "instruction.md: is a link, which may lead anywhere"),
        (Kind.TERMINAL_BENCH, _linked("run-tests.sh", _terminal()), "run-tests.sh: is a link"),
        (
            Kind.HARBOR,
            _linked("environment/etc", _harbor(environment__Dockerfile="FROM a\nCOPY etc/passwd /app/x\n")),
            "COPY etc/passwd leaves the build context",
        ),
    ],
)
def test_folders(
    rig: Rig, project: Project, tmp_path: Path, kind: Kind, make: Callable[[Path, Project], None], said: str
) -> None:
    make(tmp_path / "tasks" / "kettle", project)
    with pytest.raises(UserError) as caught:
        rig.bring(kind, tmp_path / "tasks", tmp_path / "kettles")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["tasks"]

"""How an instance's tests are run and read: pytest in the tree, or the benchmark's own commands and a report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.suites.foreign.draft import Note, text_file
from harness.suites.foreign.swebench_rows import V5, Classic, Instance, Live, Pro, Rebench
from harness.suites.groups import ReportFormat
from harness.suites.parse import read_bytes
from harness.suites.tree import EXECUTABLE, Entry, Tree

_PARSERS: Mapping[str, ReportFormat] = {
    "django": ReportFormat.UNITTEST,
    "unittest": ReportFormat.UNITTEST,
    "sympy": ReportFormat.SYMPY,
    **dict.fromkeys(
        (
            "pytest",
            "pytest_options",
            "pytest_v2",
            "seaborn",
            "matplotlib",
            "astroid",
            "flask",
            "marshmallow",
            "pvlib",
            "pyvista",
            "sqlfluff",
            "xarray",
            "pydicom",
            "requests",
            "pylint",
            "astropy",
            "scikit",
            "sphinx",
        ),
        ReportFormat.PYTEST,
    ),
}
_NETWORK = re.compile(
    r"\b(?:pip3? install|apt(?:-get)? |conda (?:install|env)|npm (?:ci|install)|yarn|curl |wget |git clone)"
)
_ROOT = re.compile(r"\bsudo\b|\bapt(?:-get)? |/root/")
_PYTEST_ID = re.compile(r"[^\s:]+\.py(?:::\S.*)?")
_DJANGO_ID = re.compile(r"\w+ \((?P<label>[\w.]+)\)")
_LIVE_ADAPTER = """

import json as _json, sys as _sys
with open(_sys.argv[1], errors="replace") as _out, open(_sys.argv[2], errors="replace") as _err:
    _said = globals().get("parser", globals().get("parse_log"))(_out.read() + _err.read())
with open(_sys.argv[3], "w") as _file:
    _json.dump({"tests": [{"name": str(k), "status": str(getattr(v, "value", v))} for k, v in _said.items()]}, _file)
"""


@dataclass(frozen=True)
class Commands:
    """How the tests run: the keys of both groups, the hidden files they name, what is lost."""

    how: Mapping[str, Any]
    files: tuple[Entry, ...] = ()
    notes: tuple[Note, ...] = ()


def commands(instance: Instance, source: Path, where: str, tree: Tree, python: str) -> Commands:
    """The commands for an instance whose tests lie in *tree*; *python* has the project's packages.

    Raises:
        UserError: no command or parser is known for it, or a script is missing.
    """
    match instance:
        case V5():
            return _script(instance.eval_script, _format(instance.log_parser, f"{where}: log_parser"))
        case Pro():
            return _pro(instance, source, where)
        case Live():
            return _live(instance, where)
        case Rebench():
            config = instance.install_config
            lines = [config.test_cmd] if isinstance(config.test_cmd, str) else list(config.test_cmd)
            files = sorted(_test_files(instance.test_patch))
            lines[-1] = " ".join([lines[-1], *map(shlex.quote, files)])
            return _script(_activated(lines), _format(config.log_parser, f"{where}: install_config.log_parser"))
        case _:
            return _classic(instance, where, tree, python)


def _classic(instance: Classic, where: str, tree: Tree, python: str) -> Commands:
    names = [*instance.fail, *instance.passing]
    if all(map(_PYTEST_ID.fullmatch, names)) and all("::" in name for name in names):
        return Commands({"oracle": "in_tree", "python": python})
    if "tests/runtests.py" in tree:
        labels = sorted({_label(path) for path in _test_files(instance.test_patch) if path.endswith(".py")})
        command = "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1"
        return _script(_activated([" ".join([f"python {command}", *labels])]), ReportFormat.UNITTEST)
    if "bin/test" in tree:
        files = sorted(_test_files(instance.test_patch))
        return _script(_activated([" ".join(["bin/test -C --verbose", *map(shlex.quote, files)])]), ReportFormat.SYMPY)
    found = [match for name in names if (match := _DJANGO_ID.fullmatch(name))]
    if len(found) == len(names):
        modules = sorted({_module(match["label"], tree) for match in found})
        return _script(_activated([f"python -m unittest -v {' '.join(modules)}"]), ReportFormat.UNITTEST)
    odd = next(name for name in names if not _PYTEST_ID.fullmatch(name) or "::" not in name)
    raise UserError(
        f"{where}: FAIL_TO_PASS", f"no command is known for tests named like {odd[:60]!r}", "expected ids of pytest"
    )


def _label(path: str) -> str:
    """What Django's runner calls a test file."""
    return path.removeprefix("tests/").removesuffix(".py").replace("/", ".")


def _module(label: str, tree: Tree) -> str:
    """The module part of ``module.Class``."""
    parts = label.split(".")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end])
        if f"{path}.py" in tree or f"{path}/__init__.py" in tree:
            return ".".join(parts[:end])
    return label


def _pro(instance: Pro, source: Path, where: str) -> Commands:
    beside = source if source.is_dir() else source.parent
    folder = next(
        (one for one in (beside / "run_scripts" / instance.instance_id, beside / instance.instance_id) if one.is_dir()),
        None,
    )
    if folder is None:
        raise UserError(where, f"no run_scripts/{instance.instance_id}/ lies beside the rows", "copy the scripts there")
    parts = [Entry(name, EXECUTABLE, read_bytes(folder / name)) for name in ("run_script.sh", "parser.py")]
    chosen = ",".join(instance.selected_test_files_to_run)
    text = f'exec bash "$(dirname "$0")/run_script.sh" {shlex.quote(chosen)}\n'
    scripts = (parts[0].data.decode("utf-8", "replace"), parts[1].data.decode("utf-8", "replace"))
    lost = (
        (Note("before_repo_set_cmd", "is not run: the tree is the base commit, and test files are laid over it"),)
        if instance.before_repo_set_cmd
        else ()
    )
    return Commands(
        {"oracle": "report", "script": "hidden/eval.sh", "report": "tests-json", "parser": "hidden/parser.py"},
        (text_file("eval.sh", text, EXECUTABLE), *parts),
        (*lost, *script_notes("\n".join(scripts))),
    )


def _live(instance: Live, where: str) -> Commands:
    code = instance.parser or instance.log_parser or "pytest"
    lines = [*instance.rebuild_cmds, *instance.test_cmds, *instance.print_cmds]
    if "\n" not in code:
        return _script("\n".join(lines) + "\n", _format(code, f"{where}: log_parser"))
    made = _script("\n".join(lines) + "\n", ReportFormat.TESTS_JSON)
    return Commands(
        {**made.how, "parser": "hidden/parser.py"},
        (*made.files, text_file("parser.py", code + _LIVE_ADAPTER)),
        made.notes,
    )


def _script(text: str, report: ReportFormat) -> Commands:
    text = text if text.endswith("\n") else text + "\n"
    how = {"oracle": "report", "script": "hidden/eval.sh", "report": report.value}
    return Commands(how, (text_file("eval.sh", text, EXECUTABLE),), script_notes(text))


def _activated(lines: list[str]) -> str:
    """Commands in the environment that SWE-bench's images keep the project's packages in, where there is one."""
    activate = "/opt/miniconda3/bin/activate"
    python = 'command -v python >/dev/null || python() { python3 "$@"; }'
    return "\n".join([f"[ -f {activate} ] && . {activate} testbed", python, *lines, ""])


def _format(name: str, where: str) -> ReportFormat:
    found = _PARSERS.get(name.removeprefix("parse_log_").lower())
    if found is None:
        known = ", ".join(sorted(_PARSERS))
        raise UserError(where, f"no parser {name[:60]!r} is known", f"expected parse_log_ and one of: {known}")
    return found


def script_notes(text: str) -> tuple[Note, ...]:
    """What a script seems to need and is not given: found by reading it, so a hint and no proof."""
    notes = []
    if found := _NETWORK.search(text):
        notes.append(Note("network", f"a script says {found[0].strip()!r}; grading has no network, so that step fails"))
    if found := _ROOT.search(text):
        notes.append(Note("root", f"a script says {found[0].strip()!r}; grading is not run as root"))
    if re.search(r"^\s*git (?:checkout|reset|apply|status|diff)", text, re.MULTILINE):
        notes.append(
            Note("git", "a script calls git; the grader's tree has no store, and the tests are laid over it instead")
        )
    return tuple(notes)


def _test_files(patch: str) -> set[str]:
    """The files that a test patch leaves behind."""
    return {match for match in re.findall(r"^\+\+\+ b/(.+?)\t?$", patch, re.MULTILINE) if match != "/dev/null"}

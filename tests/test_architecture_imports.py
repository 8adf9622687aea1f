"""The arrows of docs/architecture.md, held against the code's own imports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("harness", "audits", "scoring", "trialbox")
"""From the ground up: a room may import itself and the rooms before it."""

IMPURE = {
    "docker", "requests", "urllib3", "socket", "subprocess", "sqlite3", "time", "threading", "asyncio", "os", "random",
    "secrets", "tempfile", "http", "urllib", "fsspec", "pynvml", "shutil",
}  # fmt: skip


def _imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def _modules(room: str):
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_down_only(room):
    above = set(ROOMS[ROOMS.index(room) + 1 :])
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(room)
        for name in _imports(path)
        if name.split(".")[0] in above | {"tests"}
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ["audits", "scoring"])
def test_audits_and_scoring_are_pure(room):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules(room)
        for name in _imports(path)
        if name.split(".")[0] in IMPURE
    ]
    assert wrong == []


def test_the_command_knows_nothing_of_docker():
    wrong = [
        f"{path.name} imports {n}" for path in _modules("trialbox") for n in _imports(path) if n.startswith("docker")
    ]
    assert wrong == []


def test_only_declared_packages_are_imported():
    import re
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=\[;]", one)[0].strip().replace("-", "_") for one in project["dependencies"]}
    declared = (declared - {"nvidia_ml_py", "markdown_it_py", "PyYAML"}) | {"pynvml", "markdown_it", "yaml", *ROOMS}
    # What a declared package brings and its own interface names: the SDK's errors, its certificates, aiohttp's URL.
    declared |= {"requests", "urllib3", "certifi", "pydantic_core", "yarl"}
    inside = {ROOT / "harness" / "scan" / "service.py"}
    """Runs in an image of its own, with that image's packages."""
    foreign = {
        f"{path.relative_to(ROOT)}: {name}"
        for room in ROOMS
        for path in _modules(room)
        if path not in inside and "inside" not in path.parts
        for name in _imports(path)
        if (top := name.split(".")[0]) not in sys.stdlib_module_names and top not in declared
    }
    assert foreign == set()

"""Bundles built from real packages: the same from nothing, kept, noticed when changed, shared by processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.bundles.interpreter import BUNDLE
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec
from harness.errors import InfraError, VerifyError
from tests.bundles_rig import Shelf, make_shelf, npm_recipe, wheel_recipe

pytestmark = [pytest.mark.engine, pytest.mark.slow]

NUMBER = {"is-number": "7.0.0"}


@pytest.fixture
def shelf(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path) -> Shelf:
    return make_shelf(engine, tmp_path)


def test_an_npm_bundle_is_locked_built_kept_and_mended(shelf: Shelf) -> None:
    folder = npm_recipe(shelf, "small", {**NUMBER, "odd": "npm:is-odd@3.0.1"}, drop=["**/README.md"])
    made = shelf.relock("small")
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert all("resolved" not in one for one in lock.values())
    assert json.loads((folder / "bundle.json").read_text())["digest"] == made.digest
    names = {path.relative_to(made.path).as_posix() for path in made.path.rglob("*") if path.is_file()}
    assert {"node_modules/is-number/index.js", "node_modules/odd/index.js"} <= names
    assert not any(name.endswith("README.md") for name in names)
    assert {path.stat().st_mode & 0o777 for path in made.path.rglob("*")} == {0o644, 0o755}

    shelf.said.clear()
    assert shelf.ensure("small") == made
    assert shelf.said == []
    (made.path / "node_modules/is-number/index.js").write_text("module.exports = () => true\n")
    with pytest.raises(VerifyError, match="was changed since it was built"):
        shelf.verify("small")
    mended = shelf.ensure("small")
    assert (mended.digest, shelf.said[-1]) == (made.digest, "building agents/small")
    assert "true\n" not in (mended.path / "node_modules/is-number/index.js").read_text()[:30]
    assert [(one.name, one.same, one.matches_lock) for one in shelf.verify("small")] == [("agents/small", True, True)]


def test_many_at_once_build_it_once(shelf: Shelf) -> None:
    npm_recipe(shelf, "small", NUMBER)
    shelf.relock("small")
    for path in (shelf.cache / "bundles/made").iterdir():
        path.unlink()
    shelf.said.clear()
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(shelf.ensure, ["small"] * 4))
    assert len(found) == 1
    assert shelf.said.count("building agents/small") == 1


def test_a_package_that_is_not_what_the_lock_names(shelf: Shelf) -> None:
    folder = npm_recipe(shelf, "small", NUMBER)
    shelf.relock("small")
    lock = json.loads((folder / "package-lock.json").read_text())
    lock["packages"]["node_modules/is-number"]["integrity"] = "sha512-" + "A" * 86 + "=="
    (folder / "package-lock.json").write_text(json.dumps(lock))
    with pytest.raises(InfraError, match=r"npm package is-number@7\.0\.0: is not what the lock names"):
        shelf.ensure("small")


def test_a_version_that_there_is_not(shelf: Shelf) -> None:
    npm_recipe(shelf, "small", {"is-number": "7.0.999"})
    with pytest.raises(InfraError, match="npm: ") as caught:
        shelf.relock("small")
    assert "\n" not in str(caught.value)


def test_what_no_lock_gives_any_more_goes(shelf: Shelf) -> None:
    folder = npm_recipe(shelf, "small", NUMBER)
    old = shelf.relock("small")
    assert shelf.tidy() == (0, 0)
    (folder / "bundle.toml").write_text('npm = true\ndrop = ["**/README.md"]\n')
    new = shelf.relock("small")
    assert shelf.tidy() == (1, old.bytes)
    assert (old.path.exists(), new.path.exists()) == (False, True)


def test_a_bundle_brings_a_python_that_its_children_see_nothing_of(
    shelf: Shelf, images: Mapping[str, BuiltImage], engine: Engine, owner: str
) -> None:
    wheel_recipe(shelf, "snake", "idna==3.10")
    made = shelf.relock("snake")
    code = (
        "import sys, os, subprocess, json, ssl, sqlite3, ctypes, lzma, bz2, decimal, hashlib, idna;"
        "own = subprocess.run([sys.executable, '-c', 'import sys; print(sys.version_info[1])'], capture_output=True);"
        "theirs = subprocess.run(['python3', '-c', 'import sys; print(sys.version_info[1])'], capture_output=True);"
        "print(json.dumps([sys.version_info[1], own.stdout.decode(), theirs.stdout.decode(), sys.executable,"
        "idna.__cached__, sorted(k for k in os.environ if k.startswith(('LD_', 'PYTHON')))]))"
    )
    spec = SandboxSpec(
        role=Role.PROBE,
        image=images["base"].handle,
        binds=(BindMount(source=str(made.path), target=BUNDLE),),
    )
    with Sandbox(engine, spec, owner) as sandbox:
        ran = sandbox.run((f"{BUNDLE}/python/bin/python3", "-I", "-c", code), timeout_s=60, max_output=10_000)
    assert ran.exit_status == 0, ran.stderr
    mine, own, theirs, executable, cached, variables = json.loads(ran.stdout)
    assert (mine, own, theirs) == (11, "11\n", "13\n")
    assert executable == f"{BUNDLE}/python/bin/python3"
    assert (made.path / cached.removeprefix(f"{BUNDLE}/")).is_file(), "no bytecode: each start would compile all of it"
    assert variables == []

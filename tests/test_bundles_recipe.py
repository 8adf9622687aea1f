"""What bundles are made of: the shipped recipes and locks, and what is refused in them."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from harness.bundles import npm, recipe
from harness.bundles.debs import files_of
from harness.bundles.recipe import NpmPackage
from harness.errors import InfraError, UserError
from harness.solvers.choose import agent_names
from tests.conftest import ROOT

IMAGES = ROOT / "images"
AGENTS = IMAGES / "agents"
NAMES = ("aider", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "qwen-code")


def test_seven_agents_have_a_bundle_and_a_manifest() -> None:
    assert recipe.names(IMAGES) == NAMES
    assert agent_names(AGENTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_bundle_is_locked_by_digest_and_published(name: str) -> None:
    source = recipe.load(IMAGES, name)
    assert source.published is not None, "bundle.json does not belong to the lock"
    assert source.npm or source.wheels
    assert all(one.integrity and one.integrity.startswith("sha512-") for one in source.npm.values())
    assert all(len(one.sha256) == 64 for one in (*source.wheels, *source.parts_lock.packages))


def test_no_lock_says_where_packages_come_from() -> None:
    locks = [*AGENTS.glob("*/package-lock.json"), *AGENTS.rglob("*lock.json")]
    assert len(locks) > 7
    assert not [path for path in locks if '"resolved"' in path.read_text()]


def test_what_is_not_for_this_platform_is_left_out() -> None:
    def fits(**fields: tuple[str, ...]) -> bool:
        return NpmPackage.model_validate(fields).fits()

    assert fits()
    assert fits(os=("linux",), cpu=("x64",), libc=("glibc",))
    assert fits(os=("!win32",))
    assert not fits(os=("darwin",))
    assert not fits(os=("!linux",))
    assert not fits(os=("linux",), cpu=("arm64",))
    assert not fits(libc=("musl",))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The shipped recipes, to be spoilt."""
    shutil.copytree(AGENTS, tmp_path / "images/agents")
    return tmp_path / "images"


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("codex/bundle.toml", "npm = true", "npm = false", "needs npm packages or wheels"),
        ("codex/bundle.toml", "npm = true", "pnpm = true", "pnpm"),
        ("gemini-cli/bundle.toml", '"node_modules/nan"', '"node_modules/nun"', "node_modules/nun is not locked"),
        ("codex/package-lock.json", "sha512-", "sha1-", "has no sha512 integrity"),
        ("codex/package-lock.json", '"lockfileVersion": 3', '"lockfileVersion": 1', "lockfileVersion"),
        ("codex/package-lock.json", "{", "", "package-lock.json"),
        ("parts.toml", '"zlib1g"', '"zlib2g"', "is not the lock of parts.toml"),
        ("mini-swe-agent/bundle.toml", '"pandas"', '"polars"', "polars is not locked"),
    ],
)
def test_a_bad_recipe_or_lock_is_one_line(copy: Path, file: str, old: str, new: str, said: str) -> None:
    spoil(copy / "agents" / file, old, new)
    name = file.partition("/")[0] if "/" in file else "aider"
    with pytest.raises(UserError, match=re.escape(said)) as caught:
        recipe.load(copy, name)
    assert "\n" not in str(caught.value)


def test_a_changed_lock_is_another_bundle_that_is_not_published(copy: Path) -> None:
    lock = copy / "agents/codex/package-lock.json"
    value = json.loads(lock.read_text())
    before = recipe.load(copy, "codex")
    value["packages"]["node_modules/codex"]["integrity"] = "sha512-" + "A" * 86 + "=="
    lock.write_text(json.dumps(value))
    after = recipe.load(copy, "codex")
    assert before.published is not None
    assert after.published is None
    assert after.lock_digest != before.lock_digest
    assert recipe.load(copy, "opencode").published is not None


def test_an_agent_that_there_is_not() -> None:
    with pytest.raises(UserError, match="agent nobody: has no bundle; there are: aider, claude-code"):
        recipe.load(IMAGES, "nobody")


def package(path: Path, *members: tuple[str, bytes, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                info.size = len(data)
            else:
                info.linkname = data.decode()
            tar.addfile(info, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    return path


def test_a_package_is_unpacked_without_its_own_folder(tmp_path: Path) -> None:
    good = package(tmp_path / "good.tgz", ("package/bin/run.js", tarfile.REGTYPE, b"1"))
    npm.unpack(good, tmp_path / "out")
    assert (tmp_path / "out/bin/run.js").read_bytes() == b"1"


@pytest.mark.parametrize(
    "member",
    [
        ("package/../../evil", tarfile.REGTYPE, b"1"),
        ("/package/evil", tarfile.REGTYPE, b"1"),
        ("package/evil", tarfile.SYMTYPE, b"/etc/passwd"),
        ("package/evil", tarfile.LNKTYPE, b"package/other"),
        ("package/evil", tarfile.FIFOTYPE, b""),
    ],
    ids=["climbs", "absolute", "link", "hard link", "pipe"],
)
def test_a_package_that_holds_anything_else_is_refused(tmp_path: Path, member: tuple[str, bytes, bytes]) -> None:
    bad = package(tmp_path / "bad.tgz", ("package/fine", tarfile.REGTYPE, b""), member)
    with pytest.raises(InfraError, match="no plain file"):
        npm.unpack(bad, tmp_path / "out")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("data", [b"", b"!<arch>\n", b"!<arch>\n" + b"debian-binary   " + b" " * 44, b"PK"])
def test_what_is_no_debian_package(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(data)
    with pytest.raises(InfraError, match=r"holds no data\.tar"), files_of(path):
        pass

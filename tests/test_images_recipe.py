"""Recipes and locks: mistakes are named with file, field and remedy; what is committed fits together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.engine.images import list_images, recipe
from harness.engine.images.archive import Content
from harness.engine.images.recipe import Lock, Published, Wheel
from harness.errors import UserError
from tests.conftest import IMAGES, ROOT
from tests.images_rig import TINY, write_recipe

OURS = ROOT / "images"
WHEEL = Wheel(name="x", version="1", filename="x-1-py3-none-any.whl", sha256="0" * 64)


def test_every_image_is_locked_and_published() -> None:
    assert set(IMAGES) <= set(recipe.names(OURS))
    for name in recipe.names(OURS):
        source = recipe.load(OURS, name)
        assert source.published is not None, f"images/{name}/image.json is not of this lock: run images build --relock"
        assert source.root.published is not None
        assert source.published.layers[0] == source.root.published.layers[0]


def test_packages_on_top_of_a_root_are_locked_beside_its_own() -> None:
    for name in ("workbench", "compiler"):
        source = recipe.load(OURS, name)
        assert source.base is not None
        own, below = ({package.name for package in one.lock.packages} for one in (source, source.base))
        assert own, name
        assert not own & below, name


def test_base_has_no_pip_and_locks_name_no_host() -> None:
    names = {package.name for package in recipe.load(OURS, "base").lock.packages}
    assert {"python3", "git", "tar", "findutils", "coreutils"} <= names
    assert not {name for name in names if "pip" in name or "setuptools" in name}
    for path in OURS.rglob("*.*"):
        assert not re.search(r"https?:|ftp:|\.(org|com|net)\b", path.read_text()), path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("suite = ", "Invalid value"),
        ('suite = "trixie"', "give either suite, architecture, packages and epoch, or base with packages or wheels"),
        (TINY + 'base = "base"\nwheels = ["x"]\n', "give either"),
        ('base = "base"', "give either"),
        (TINY.replace("tar", "--option"), "packages.0: "),
        (TINY.replace("1795996800", '"today"'), "epoch: "),
        (TINY + "layers = 3\n", "layers: Extra inputs are not permitted"),
        ('base = "base"\nwheels = ["x; rm"]\n', "wheels.0: "),
    ],
)
def test_a_bad_recipe_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    write_recipe(tmp_path, "bad", text)
    with pytest.raises(UserError) as caught:
        recipe.load_recipe(tmp_path, "bad")
    line = str(caught.value)
    assert line.startswith(str(tmp_path / "bad/recipe.toml"))
    assert said in line
    assert "\n" not in line
    assert caught.value.remedy


def test_missing_things_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"image nosuch: has no recipe; choose one of: none"):
        recipe.load(tmp_path, "nosuch")
    write_recipe(tmp_path, "tiny", TINY)
    with pytest.raises(UserError, match=r"tiny/lock.json: is missing; run `trialbox images build --relock`"):
        recipe.load(tmp_path, "tiny")
    (tmp_path / "tiny/lock.json").write_text('{"packages": [{"name": "tar"}]}')
    with pytest.raises(UserError, match=r"tiny/lock.json: is no Lock: packages.0.version: Field required; run"):
        recipe.load(tmp_path, "tiny")
    write_recipe(tmp_path, "up", 'base = "nosuch"\nwheels = ["x"]\n')
    recipe.write(tmp_path, "up", Lock(wheels=(WHEEL,)), None)
    with pytest.raises(UserError, match="image nosuch: has no recipe; choose one of: tiny, up"):
        recipe.load(tmp_path, "up")


def test_a_published_id_belongs_to_its_lock_and_to_those_below(tmp_path: Path) -> None:
    write_recipe(tmp_path, "tiny", TINY)
    write_recipe(tmp_path, "up", 'base = "tiny"\nwheels = ["x"]\n')
    locks = {"tiny": recipe.load(OURS, "base").lock, "up": Lock(wheels=(WHEEL,))}
    for name, lock in locks.items():
        recipe.write(tmp_path, name, lock, None)
        source = recipe.load(tmp_path, name)
        image_id = Content(("sha256:" + "0" * 64,), source.architecture, source.epoch).id
        published = Published(id=image_id, layers=("sha256:" + "0" * 64,), lock=source.lock_digest)
        recipe.write(tmp_path, name, lock, published)
    assert [one.id is not None for one in list_images(None, images_dir=tmp_path)] == [True, True]
    assert recipe.load(tmp_path, "tiny").lock == locks["tiny"], "what is written is read back"

    fewer = Lock(packages=locks["tiny"].packages[1:])
    (tmp_path / "other").mkdir()
    recipe.write(tmp_path / "other", "tiny", fewer, None)
    (tmp_path / "tiny/lock.json").write_bytes((tmp_path / "other/tiny/lock.json").read_bytes())
    assert [one.id for one in list_images(None, images_dir=tmp_path)] == [None, None]


def test_an_id_that_does_not_follow_from_its_layers_counts_for_nothing(tmp_path: Path) -> None:
    write_recipe(tmp_path, "tiny", TINY)
    lock = recipe.load(OURS, "base").lock
    recipe.write(tmp_path, "tiny", lock, None)
    digest = recipe.load(tmp_path, "tiny").lock_digest
    recipe.write(tmp_path, "tiny", lock, Published(id="sha256:" + "0" * 64, layers=(), lock=digest))
    assert [one.id for one in list_images(None, images_dir=tmp_path)] == [None]

"""Archives on real engines: what goes in comes out under our id, and anything else is noticed."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images.archive import Content, check_archive, find, layer_of, put, tag, write_archive
from harness.engine.images.layer import folder, text_file, write_layer
from harness.errors import InfraError, VerifyError
from tests import podman

EPOCH = 1_700_000_000


def made(path: Path, *texts: str) -> Content:
    """An archive with one small layer for each text."""
    layers = []
    ids = []
    for number, text in enumerate(texts):
        out = io.BytesIO()
        ids.append(write_layer([folder("etc", EPOCH), text_file(f"etc/{number}", text, EPOCH)], out))
        layers.append((io.BytesIO(out.getvalue()), len(out.getvalue())))
    content = Content(tuple(ids), "amd64", EPOCH)
    write_archive(path, "probe", content, list(layers))
    return content


@pytest.fixture(scope="module", params=["docker", "podman"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    if request.param == "docker":
        yield request.getfixturevalue("engine")
        return
    if shutil.which("podman") is None:
        podman.install()
    with podman.podman_engine(tmp_path_factory.mktemp("podman")) as connected:
        yield connected


@pytest.mark.engine
def test_an_archive_is_itself_in_every_engine(either: Engine, tmp_path: Path) -> None:
    path = tmp_path / "probe.tar"
    content = made(path, "one", "two")
    check_archive(path, "probe", content)
    assert find(either.api, "probe", content) is None
    handle = put(either.api, "probe", content, path)
    try:
        assert find(either.api, "probe", content) == handle
        assert put(either.api, "probe", content, path) == handle, "loading again changes nothing"
        seen = either.api.inspect_image(handle)
        assert seen["Config"]["Labels"] == {"trialbox": "1"}
        assert not {line.split("=")[0] for line in seen["Config"]["Env"]} - {"PATH", "LANG"}
        assert {line["CreatedBy"] for line in either.api.history(handle)} == {"trialbox"}
    finally:
        either.api.remove_image(handle, force=True)


@pytest.mark.engine
def test_another_image_under_our_tag_is_noticed(engine: Engine, tmp_path: Path) -> None:
    ours, other = tmp_path / "ours.tar", tmp_path / "other.tar"
    content, false = made(ours, "ours"), made(other, "false")
    handle = put(engine.api, "probe", false, other)
    name = tag("probe", content.id)
    try:
        engine.api.tag(handle, *name.split(":"))
        with pytest.raises(VerifyError, match=f"image {name}: the engine's differs in layers"):
            find(engine.api, "probe", content)
        put(engine.api, "probe", content, ours)
        assert find(engine.api, "probe", content) != handle, "loading puts it right"
    finally:
        for one in (name, tag("probe", false.id)):
            engine.api.remove_image(one, force=True)


@pytest.mark.engine
def test_an_engine_that_refuses_is_one_line(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "broken.tar"
    content = made(path, "broken")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(InfraError, match="image probe: "):
        put(engine.api, "probe", content, path)


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "probe.tar"
    content = made(path, "content")
    whole = path.read_bytes()
    path.write_bytes(whole[:1500])
    with pytest.raises(VerifyError, match="not a whole image archive"):
        check_archive(path, "probe", content)
    at = whole.index(b"content")
    path.write_bytes(whole[:at] + b"CONTENT" + whole[at + 7 :])
    with pytest.raises(VerifyError, match=r"layer\.tar hashes to"):
        check_archive(path, "probe", content)
    path.write_bytes(whole.replace(b'"trialbox/probe:', b'"trialbox/other:'))
    with pytest.raises(VerifyError, match=r"manifest\.json hashes to"):
        check_archive(path, "probe", content)
    path.write_bytes(b"")
    with pytest.raises(VerifyError, match="not a whole image archive"):
        check_archive(path, "probe", content)


def test_the_id_is_of_content_alone(tmp_path: Path) -> None:
    """A fixed vector: it changes only if what an image is changes."""
    content = made(tmp_path / "a.tar", "one", "two")
    assert content.id == made(tmp_path / "b.tar", "one", "two").id
    assert content.id == "sha256:d8bb5aa6a8bcbc7615fa55aab325103d5e3ea651519bc5c5ff40812cb0e156bf"
    assert content.id != made(tmp_path / "c.tar", "two", "one").id
    assert tag("probe", content.id) == "trialbox/probe:" + content.id[7:19]


def test_a_layer_is_read_back_out_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "probe.tar"
    content = made(path, "one", "two")
    with layer_of(path, content.layers[1]) as (handle, size):
        assert b"two" in handle.read()
        assert size % 512 == 0

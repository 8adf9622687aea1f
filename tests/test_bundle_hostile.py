"""A bundle that somebody made to do harm, or that was damaged: refused in one line that names why, nothing written."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from harness.digest import canonical, digest, loads, sha256_bytes
from harness.errors import TrialboxError, UserError, VerifyError
from harness.oci import trees
from harness.oci.layout import open_layout
from harness.oci.trees import read_tree_blob
from harness.oci.write import blob_of, write_tar
from scoring.bundle import EVIDENCE_TYPE
from scoring.card import card_id, section_digests
from scoring.unbundle import read_bundle
from scoring.verify import verify_card
from tests.bundle_rig import Made, make_bundle, members, rewritten
from tests.cli_rig import trialbox

Parts = list[tuple[tarfile.TarInfo, bytes]]


@cache
def shared() -> Made:
    """One bundle for all tests; what they alter they write anew."""
    return make_bundle(Path(mkdtemp()))


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, link
    return info, data


BLOB = "blobs/sha256/" + "a" * 64
HOSTILE: dict[str, tuple[Callable[[Parts], None], str]] = {
    "climbs": (lambda parts: parts.append(member("../../evil", b"x")), "../../evil would lead out of it"),
    "absolute": (lambda parts: parts.append(member("/etc/cron.d/x", b"x")), "/etc/cron.d/x would lead out of it"),
    "climbs in the middle": (lambda parts: parts.append(member("blobs/../x", b"x")), "blobs/../x would lead out of it"),
    "stranger": (lambda parts: parts.append(member("setup.py", b"x")), "setup.py is no part of a bundle"),
    "folder": (lambda parts: parts.append(member("bin", kind=tarfile.DIRTYPE)), "bin/ is no part of a bundle"),
    "symlink": (lambda parts: parts.append(member(BLOB, kind=tarfile.SYMTYPE, link="/etc/passwd")), "is a link"),
    "hard link": (lambda parts: parts.append(member(BLOB, kind=tarfile.LNKTYPE, link="index.json")), "is a link"),
    "device": (lambda parts: parts.append(member(BLOB, kind=tarfile.CHRTYPE)), "is special"),
    "fifo": (lambda parts: parts.append(member(BLOB, kind=tarfile.FIFOTYPE)), "is special"),
    "twice": (lambda parts: parts.append(parts[1]), "index.json comes twice"),
    "nothing names it": (
        lambda parts: parts.append(member(f"blobs/sha256/{sha256_bytes(b'x')[7:]}", b"x")),
        "which nothing in it names",
    ),
    "no index": (lambda parts: parts.pop(1), "has no index.json"),
    "no layout": (lambda parts: parts.pop(0), "has no oci-layout"),
    "version": (
        lambda parts: parts.__setitem__(0, member("oci-layout", b'{"imageLayoutVersion":"2.0.0"}')),
        "says version",
    ),
    "no JSON": (lambda parts: parts.__setitem__(1, member("index.json", b"[" * 100_000)), "is no index"),
    "duplicate key": (
        lambda parts: parts.__setitem__(1, member("index.json", b'{"a":1,"a":2}')),
        "duplicate key 'a'",
    ),
    "no artifact": (
        lambda parts: parts.__setitem__(1, member("index.json", b'{"schemaVersion":2,"manifests":[]}')),
        "names 0 artifacts",
    ),
    "missing blob": (lambda parts: parts.pop(), "is not in bundle"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tar_is_refused_by_name(name: str) -> None:
    change, said = HOSTILE[name]
    with pytest.raises((UserError, VerifyError)) as caught:
        read_bundle(rewritten(shared().path, change))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_compressed_cut_or_no_tar_is_refused(tmp_path: Path) -> None:
    whole = shared().path.read_bytes()
    bomb = tmp_path / "bomb.tar.gz"
    with gzip.open(bomb, "wb") as out:
        for _ in range(64):
            out.write(bytes(1 << 20))
    for data, said in (
        (bomb.read_bytes(), r"is compressed \(gzip\)"),
        (whole[:20_000], "is cut short"),
        (whole + b"x" * 512, "goes on after its end mark"),
        (whole + bytes(2 << 20), "goes on after its end mark"),
        (b"hello" * 1000, "is no tar"),
        (b"", "is cut short"),
    ):
        bad = tmp_path / "bad.tar"
        bad.write_bytes(data)
        with pytest.raises(UserError, match=said):
            open_layout(bad)


def test_sizes_beyond_the_file_and_extended_headers_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tar"
    info = tarfile.TarInfo("oci-layout")
    info.size = 7 << 30
    bad.write_bytes(info.tobuf(tarfile.USTAR_FORMAT) + bytes(2048))
    with pytest.raises(UserError, match="is cut short inside oci-layout"):
        open_layout(bad)
    with tarfile.open(bad, "w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x" * 5000}) as tar:
        tar.addfile(member("oci-layout", b"{}")[0], io.BytesIO(b"{}"))
    with pytest.raises(UserError, match="tar --format=ustar"):
        open_layout(bad)


def test_a_folder_with_a_link_in_it_is_refused(tmp_path: Path) -> None:
    folder = shared().folder("linked")
    blob = next((folder / "blobs" / "sha256").iterdir())
    blob.unlink()
    blob.symlink_to("/etc/hostname")
    with pytest.raises(UserError, match="is a link or no plain file"):
        open_layout(folder)


# ------------------------------------------------------------------------------- one valid blob in the place of another


def repacked(change: Callable[[dict[str, bytes], dict[str, Any]], None], tmp_path: Path) -> Path:
    """The bundle with every digest right again after a change: blobs by digest, and documents by artifact type."""
    parts = {name.name: data for name, data in members(shared().path)}
    blobs = {f"sha256:{name[-64:]}": data for name, data in parts.items() if name.startswith("blobs/")}
    index = loads(parts["index.json"])
    top = loads(blobs.pop(index["manifests"][0]["digest"]))
    documents = {}
    for entry in top["manifests"]:
        key = entry.get("artifactType") or "image"
        documents[key] = loads(blobs.pop(entry["digest"]))
    change(blobs, documents)
    for entry in top["manifests"]:
        data = canonical(documents[entry.get("artifactType") or "image"])
        entry |= {"digest": sha256_bytes(data), "size": len(data)}
        blobs[entry["digest"]] = data
    data = canonical(top)
    blobs[sha256_bytes(data)] = data
    index["manifests"][0] |= {"digest": sha256_bytes(data), "size": len(data)}
    path = tmp_path / "repacked.tar"
    write_tar(path, canonical(index), [blob_of(one) for _, one in sorted(blobs.items())])
    return path


def put(blobs: dict[str, bytes], descriptor: dict[str, Any], data: bytes) -> None:
    """Another blob in the place of the one that a descriptor names."""
    blobs.pop(descriptor["digest"], None)
    descriptor |= {"digest": sha256_bytes(data), "size": len(data)}
    blobs[descriptor["digest"]] = data


def layer(documents: dict[str, Any], words: str) -> dict[str, Any]:
    for document in documents.values():
        for one in document["layers"]:
            if words in one["mediaType"]:
                found: dict[str, Any] = one
                return found
    raise KeyError(words)


def test_repacking_alone_changes_nothing(tmp_path: Path) -> None:
    assert read_bundle(repacked(lambda *_: None, tmp_path)).card == shared().card


def test_evidence_that_was_exchanged_for_other_valid_bytes_is_named(tmp_path: Path) -> None:
    """Every digest in the bundle is right; the card's own evidence is missing, and what took its place is not named."""
    gone: list[str] = []

    def exchange(blobs: dict[str, bytes], documents: dict[str, Any]) -> None:
        one = layer(documents, "x-diff")
        gone.append(one["digest"])
        put(blobs, one, b"another patch")

    path = repacked(exchange, tmp_path)
    with pytest.raises(TrialboxError, match="holds evidence that its card does not name"):
        read_bundle(path)

    def exchange_record(blobs: dict[str, bytes], documents: dict[str, Any]) -> None:
        one = next(one for one in documents[EVIDENCE_TYPE]["layers"] if "attempt" in one["mediaType"])
        gone.append(one["digest"])
        put(blobs, one, b"{}")

    bundle = read_bundle(repacked(exchange_record, tmp_path))
    problems = verify_card(bundle.card_bytes, bundle.store).problems
    assert any(gone[-1] in line for line in problems)


def test_another_card_an_image_that_is_none_and_a_tree_that_climbs_are_named(tmp_path: Path) -> None:
    def restamp(blobs: dict[str, bytes], documents: dict[str, Any]) -> None:
        one = layer(documents, "card.v1")
        value = loads(blobs[one["digest"]])
        value["stamp"]["run"]["concurrency"] = 77
        value["sections"] = section_digests(value)
        put(blobs, one, canonical({**value, "id": card_id(value)}))

    with pytest.raises(VerifyError, match="config: is of card"):
        read_bundle(repacked(restamp, tmp_path))

    def claim(blobs: dict[str, bytes], documents: dict[str, Any]) -> None:
        documents["image"]["annotations"]["dev.trialbox.image.id"] = "sha256:" + "1" * 64

    with pytest.raises(UserError, match="which its card does not name"):
        read_bundle(repacked(claim, tmp_path))


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b'{"schema_version":1,"schema_version":1}', "duplicate key"),
        (b'{"n":9007199254740993}', "9007199254740993"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_a_card_that_is_none_is_named(data: bytes, named: str, tmp_path: Path) -> None:
    path = repacked(lambda blobs, documents: put(blobs, layer(documents, "card.v1"), data), tmp_path)
    with pytest.raises(VerifyError) as caught:
        read_bundle(path)
    assert named in str(caught.value)


def test_a_card_of_a_later_schema_is_named(tmp_path: Path) -> None:
    def later(blobs: dict[str, bytes], documents: dict[str, Any]) -> None:
        one = layer(documents, "card.v1")
        value = {**loads(blobs[one["digest"]]), "schema_version": 99}
        put(blobs, one, canonical({**value, "id": card_id(value)}))

    with pytest.raises(VerifyError, match="99 is of a later trialbox"):
        read_bundle(repacked(later, tmp_path))


def tree_of(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return out.getvalue()


def sparse_bomb() -> bytes:
    """A member of a few bytes that says that it is a terabyte of holes (GNU's old form)."""
    header = bytearray(member("t0/before/big", kind=tarfile.GNUTYPE_SPARSE)[0].tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + bytes(1024)


TREES = {
    "climbs": (tree_of(member("../../../tmp/evil", b"x")), "plain relative path"),
    "absolute": (tree_of(member("/tmp/evil", b"x")), "plain relative path"),
    "link out": (tree_of(member("t0/a", kind=tarfile.SYMTYPE, link="../../../etc/passwd")), "symlink_escape"),
    "through a link": (
        tree_of(member("t0", kind=tarfile.SYMTYPE, link="t1"), member("t0/x", b"x")),
        "both a file and a folder",
    ),
    "twice": (tree_of(member("T0/a", b"x"), member("t0/a", b"y")), "differ only in case"),
    "device": (tree_of(member("t0/null", kind=tarfile.CHRTYPE)), "special_file"),
    "git store": (tree_of(member("t0/.git/config", b"x")), "nested_repository"),
    "bomb": (sparse_bomb(), "limit"),
    "by-product": (tree_of(member("t0/a.pyc", b"x")), "no tree of ours"),
    "no tar": (b"hello", "is not acceptable"),
    "compressed": (gzip.compress(tree_of(member("a", b"x"))), "is not acceptable"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_hostile_suite_inside_a_bundle_is_refused_by_name(name: str, tmp_path: Path) -> None:
    data, said = TREES[name]
    path = repacked(lambda blobs, documents: put(blobs, layer(documents, "suite.v1"), data), tmp_path)
    with pytest.raises(UserError) as caught:
        read_bundle(path).tree("application/vnd.trialbox.suite.v1.tar")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_tree_over_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MAX_TREE", 4096)
    bundle = read_bundle(shared().path)
    with pytest.raises(UserError, match="at most 4096 are read"):
        read_tree_blob(bundle.layout, bundle.layers["application/vnd.trialbox.suite.v1.tar"].digest, "suite")


@pytest.mark.parametrize("command", [("reproduce",), ("card", "verify")])
def test_the_command_says_it_in_one_line_and_leaves_nothing(command: tuple[str, ...], tmp_path: Path) -> None:
    bad = rewritten(shared().path, HOSTILE["climbs"][0])
    ran = trialbox(tmp_path / "home", *command, str(bad))
    assert (ran.code, ran.out) == (2, "")
    assert "would lead out of it" in ran.err and len(ran.err.splitlines()) == 1
    damaged = tmp_path / "damaged.tar"
    data = bytearray(shared().path.read_bytes())
    data[data.index(b"x" * 64)] ^= 1
    damaged.write_bytes(bytes(data))
    ran = trialbox(tmp_path / "home", *command, str(damaged))
    assert ran.code == (1 if "verify" in command else 2)
    assert "now hashes to" in ran.err
    assert not (tmp_path / "home").exists()


def test_names_in_a_plan_lead_nowhere_and_a_card_from_the_future_is_refused() -> None:
    from trialbox.material import check_card

    card = shared().card
    for change in (
        {"suite": card.core.plan.suite.model_copy(update={"name": "../../etc"})},
        {"images": (card.core.plan.images[0].model_copy(update={"name": "../x"}),)},
    ):
        plan = card.core.plan.model_copy(update=change)
        with pytest.raises(UserError, match="is no name"):
            check_card(card.model_copy(update={"core": card.core.model_copy(update={"plan": plan})}))
    with pytest.raises(UserError, match="set this machine's clock right"):
        late = card.stamp.run.model_copy(update={"created_us": 8_000_000_000_000_000})
        check_card(card.model_copy(update={"stamp": card.stamp.model_copy(update={"run": late})}))


def test_the_plan_is_what_its_id_says() -> None:
    assert shared().card.core.plan_id == digest(shared().card.core.plan.model_dump(mode="json"))

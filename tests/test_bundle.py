"""A bundle holds a card whole, the same bytes each time, and no change of it goes unnoticed."""

from __future__ import annotations

import random
import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import canonical, loads
from harness.errors import GateError, TrialboxError, UserError, VerifyError
from harness.oci.images import read_content
from harness.oci.layout import open_layout
from harness.oci.trees import lay_out
from harness.oci.write import blob_of
from harness.records import to_json
from harness.secrets import Known, find_secrets
from harness.suites.tree import read_tree
from scoring.bundle import LOCKS_TYPE, SUITE_TYPE, Kind, Packed, evidence_of
from scoring.unbundle import read_bundle
from scoring.verify import verify_bytes, verify_card
from tests.bundle_rig import LOCKS, SUITE, Made, make_bundle
from tests.card_rig import blob_path
from trialbox.packing import check_digests, refuse_secrets

CHANGES = 500


@cache
def shared() -> Made:
    """One bundle for all tests that leave it as it is."""
    return make_bundle(Path(mkdtemp()), b'{"payload":""}')


def test_a_bundle_gives_back_all_that_went_in(tmp_path: Path) -> None:
    made = shared()
    bundle = read_bundle(made.path)
    assert (bundle.card, bundle.card_bytes) == (made.card, made.card.to_bytes())
    assert verify_card(bundle.card_bytes, bundle.store, made.card.id).problems == ()
    assert bundle.signature == b'{"payload":""}'
    assert (bundle.tree(SUITE_TYPE), bundle.tree(LOCKS_TYPE)) == (SUITE, LOCKS)
    assert [(one.image.name, one.whole) for one in bundle.config.images] == [("base", True)]
    (manifest,) = bundle.images.values()
    assert read_content(bundle.layout, manifest, "image") == made.content
    lay_out(bundle.tree(SUITE_TYPE), tmp_path / "suite")
    assert read_tree(tmp_path / "suite") == SUITE


def test_two_bundles_of_a_card_are_the_same_bytes_and_a_folder_is_the_same_bundle() -> None:
    made = shared()
    assert made.written("again.tar").read_bytes() == made.path.read_bytes()
    folder = made.folder("folder")
    assert sorted(read_bundle(folder).layout.digests()) == sorted(read_bundle(made.path).layout.digests())
    with tarfile.open(made.path) as tar:
        names = tar.getnames()
        assert names[:2] == ["oci-layout", "index.json"]
        assert {(one.mtime, one.uid, one.uname, one.mode) for one in tar} == {(0, 0, "", 0o644)}


def test_sizes_are_of_distinct_blobs_by_kind() -> None:
    made = shared()
    sizes = {one.kind: one for one in made.packed.sizes()}
    assert set(evidence_of(made.card, made.store)) <= set(made.packed.blobs)
    assert sizes[Kind.IMAGES].bytes == 10_240 + len(made.content.config())
    assert sum(one.blobs for one in sizes.values()) == len(made.packed.blobs)


def leaves(value: object, path: str = "") -> list[tuple[str, list[object]]]:
    """Each leaf of a JSON value: its path, and the keys that lead to it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for key, inner in items for leaf in [(key, one) for one in leaves(inner)]]
    return [(path, [])] if not found and not items else [(path, [key, *inner[1]]) for key, inner in found]


def changed(value: object, rng: random.Random) -> object:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1)) if value else 1
    if isinstance(value, str) and value:
        place = rng.randrange(len(value))
        return value[:place] + chr((ord(value[place]) ^ 1) or 1) + value[place + 1 :]
    return "x"


def test_five_hundred_changes_of_card_blobs_and_bundle_are_all_noticed_and_named() -> None:
    """Single fields of the card, single bits of card, blobs and bundle; each is named: field, blob, member or byte."""
    made, rng = shared(), random.Random(20_261_201)
    whole = made.card.to_bytes()
    places = leaves(loads(whole))
    names = sorted(made.store.digests())
    packed = made.path.read_bytes()
    missed: list[str] = []
    for number in range(CHANGES):
        match (0, 0, 0, 1, 1, 1, 2, 3)[number % 8]:
            case 0:
                value, (_, keys) = loads(whole), rng.choice(places)
                inner = value
                for key in keys[:-1]:
                    inner = inner[key]
                inner[keys[-1]] = changed(inner[keys[-1]], rng)
                problems = verify_bytes(canonical(value), made.card.id)[1]
                named = str(keys[0]) if len(keys) == 1 else f"{keys[0]}.{keys[1]}"
            case 1:
                problems = verify_bytes(flipped(whole, rng), made.card.id)[1]
                named = ""
            case 2:
                named = rng.choice(names)
                path = blob_path(made.store, named)
                good = path.read_bytes()
                path.write_bytes(flipped(good, rng) if good else b"\0")
                problems = list(verify_card(whole, made.store, made.card.id).problems)
                path.write_bytes(good)
            case _:
                bad = made.path.with_name("flipped.tar")
                bad.write_bytes(flipped(packed, rng))
                try:
                    problems = list(verify_card(read_bundle(bad).card_bytes, read_bundle(bad).store).problems)
                except TrialboxError as error:
                    problems = [str(error)]
                named = ""
        if not problems or "\n" in problems[0] or not any(named in line for line in problems):
            missed.append(f"{number}: {named} {problems[:1]}")
    assert missed == []


def flipped(data: bytes, rng: random.Random, start: int = 0, end: int = 0) -> bytes:
    """One bit another, but for a part: of the index file no digest holds the tag, which says nothing."""
    place = rng.choice([*range(start), *range(end, len(data))])
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


@given(st.data())
def test_a_bundle_that_is_cut_anywhere_is_refused(data: st.DataObject) -> None:
    whole = shared().path.read_bytes()
    cut = shared().path.with_name("cut.tar")
    end = len(whole.rstrip(b"\0")) + 512
    cut.write_bytes(whole[: data.draw(st.integers(0, end))])
    with pytest.raises((UserError, VerifyError)) as caught:
        read_bundle(cut)
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- secrets


def with_blob(text: bytes) -> tuple[Packed, str]:
    packed = Packed()
    packed.add(Kind.EVIDENCE, blob_of(b"nothing here"), "text/plain")
    return packed, packed.add(Kind.EVIDENCE, blob_of(text), "text/plain").digest


KEYS = [
    b"sk-ant-api03-" + b"Ab3_" * 20,
    b"sk-proj-" + b"Ab3" * 20,
    b"sk-" + b"Ab3d" * 12,
    b"sk-or-v1-" + b"0a" * 32,
    b"AIza" + b"Ab3d5" * 7,
    b"ghp_" + b"Ab3d" * 9,
    b"AKIA" + b"ABCDEFGH" * 2,
    b"hf_" + b"Ab3d" * 9,
    b"xoxb-" + b"1234567890-" * 3,
    b"-----BEGIN OPENSSH PRIVATE KEY-----",
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:8].decode())
def test_a_key_by_its_shape_is_refused_with_blob_and_place(key: bytes) -> None:
    packed, name = with_blob(b"one\ntwo " + key + b"\n")
    with pytest.raises(GateError) as caught:
        refuse_secrets(packed, Known({}))
    assert name in str(caught.value) and "line 2, byte 8" in str(caught.value)
    assert key.decode() not in str(caught.value)


def test_a_reviewed_blob_may_hold_the_shape_of_a_key_and_no_known_value() -> None:
    packed, name = with_blob(b"one\n" + KEYS[0] + b"\ntwo " + KEYS[5] + b"\n")
    other = packed.add(Kind.TASKS, blob_of(b"my " + KEYS[6]), "text/plain").digest
    with pytest.raises(GateError) as caught:
        refuse_secrets(packed, Known({}))
    assert all(word in str(caught.value) for word in (name, other, "line 2", "line 3", "--reviewed"))
    with pytest.raises(GateError) as caught:
        refuse_secrets(packed, Known({}), [name])
    assert name not in str(caught.value) and other in str(caught.value)
    refuse_secrets(packed, Known({}), [name, other])
    known = Known.of({"MY_KEY": KEYS[0].decode()}, {"MY_KEY"})
    with pytest.raises(GateError) as caught:
        refuse_secrets(packed, known, [name, other])
    assert "MY_KEY" in str(caught.value) and "--reviewed" not in str(caught.value)


def test_what_needs_no_review_may_not_be_said_to_have_had_one() -> None:
    packed, name = with_blob(b"nothing that looks like a key")
    for needless in (name, "sha256:" + "0" * 64):
        with pytest.raises(UserError, match="--reviewed"):
            refuse_secrets(packed, Known({}), [needless])
    for bad in (name[:20], name[7:], name.upper(), "\x1b[31m", ""):
        with pytest.raises(UserError, match="--reviewed") as caught:
            check_digests([name, bad])
        assert "\x1b" not in str(caught.value)


def test_a_bundle_says_which_blobs_were_reviewed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    plain = make_bundle(tmp_path / "a")
    bundle = read_bundle(plain.path)
    assert bundle.config.reviewed == () and b"reviewed" not in to_json(bundle.config)
    blob = next(name for name, kind in plain.packed.kinds.items() if kind is Kind.EVIDENCE)
    for reviewed in ((blob,), ("sha256:" + "0" * 64,)):
        folder = tmp_path / reviewed[0][7:12]
        folder.mkdir()
        made = make_bundle(folder, reviewed=reviewed)
        if reviewed == (blob,):
            assert read_bundle(made.path).config.reviewed == reviewed
        else:
            with pytest.raises(UserError, match="looked at"):
                read_bundle(made.path)


def test_the_value_of_a_known_variable_is_found_in_any_form() -> None:
    known = Known.of({"MY_UPSTREAM": "hunter22-or-more", "PATH": "/usr/bin", "SHORT_TOKEN": "abc"}, {"MY_UPSTREAM"})
    assert set(known.values) == {"the value of MY_UPSTREAM"}
    for text in (b"hunter22-or-more", b"?k=hunter22-or-more", b"eGh1bnRlcjIyLW9yLW1vcmU="):
        assert [one.what for one in find_secrets(b"a\n" + text, known)] == ["the value of MY_UPSTREAM"]
    assert list(find_secrets(b"hunter22-or-mor", known)) == []


def test_words_that_only_look_like_keys_are_let_through() -> None:
    for text in (b"task-" + b"a" * 60, b"the sk-learn package", b"AKIA is a prefix", b"risk-" + b"a1" * 30):
        assert list(find_secrets(text, Known({}))) == []


def test_no_shipped_suite_looks_as_if_it_held_a_key() -> None:
    for path in sorted((Path(__file__).parent.parent / "tasks").rglob("*")):
        if path.is_file():
            assert list(find_secrets(path.read_bytes(), Known({}))) == [], path


def test_an_open_layout_reads_no_blob(tmp_path: Path) -> None:
    layout = open_layout(shared().path)
    assert layout.size(shared().card.to_bytes() and next(iter(layout.digests()))) > 0
    with pytest.raises(VerifyError, match="is not in bundle"):
        layout.read("sha256:" + "0" * 64)

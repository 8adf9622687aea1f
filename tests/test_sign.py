"""Signatures: DSSE's encoding to the letter, and both checks: who signed, and what."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from harness.errors import UserError
from harness.store import LocalStore
from scoring.card import Card, make_card
from scoring.keys import keyid, new_key, private_key, public_key
from scoring.sign import PAYLOAD_TYPE, check, pae, sign, statement
from tests.card_rig import MADE, make_evidence, replace_run
from tests.cli_rig import trialbox
from tests.plans import plan


@cache
def card(run: str = "0123456789ab") -> Card:
    of = plan(1, 1, 1)
    return make_card(make_evidence(LocalStore(Path(mkdtemp())), of, {}), replace_run(MADE, run_id=run))


@cache
def pair() -> tuple[bytes, bytes]:
    return new_key()


def signed(of: Card | None = None) -> bytes:
    return sign(of or card(), private_key(pair()[0], "key"))


def problems(envelope: bytes, of: Card | None = None, pem: bytes | None = None) -> tuple[str, ...]:
    of = of or card()
    return check(envelope, of, of.to_bytes(), public_key(pem or pair()[1], "key")).problems


def edited(**changes: Any) -> bytes:
    return json.dumps({**json.loads(signed()), **changes}).encode()


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("http://example.com/HelloWorld", b"hello world", b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
        ("", b"", b"DSSEv1 0  0 "),
        ("é", b"\xff\n", b"DSSEv1 2 \xc3\xa9 2 \xff\n"),
        (PAYLOAD_TYPE, b"{}", b"DSSEv1 28 application/vnd.in-toto+json 2 {}"),
    ],
)
def test_the_encoding_that_is_signed(kind: str, body: bytes, expected: bytes) -> None:
    assert pae(kind, body) == expected


def test_the_statement_is_in_toto_s_and_names_the_file_s_digest() -> None:
    import hashlib

    said = json.loads(statement(card()))
    assert set(said) == {"_type", "subject", "predicateType", "predicate"}
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    (subject,) = said["subject"]
    assert subject["name"] == f"{card().id[7:]}.json"
    assert subject["digest"] == {"sha256": hashlib.sha256(card().to_bytes()).hexdigest()}
    assert (said["predicate"]["id"], said["predicate"]["core_digest"]) == (card().id, card().core_digest)


def test_a_signature_is_the_same_each_time_and_verifies() -> None:
    assert signed() == signed()
    assert problems(signed()) == ()
    assert set(json.loads(signed())) == {"payload", "payloadType", "signatures"}


def test_a_second_key_adds_a_signature_and_the_same_key_none() -> None:
    other, other_public = new_key()
    both = sign(card(), private_key(other, "key"), signed())
    assert len(json.loads(both)["signatures"]) == 2
    assert problems(both) == problems(both, pem=other_public) == ()
    assert sign(card(), private_key(other, "key"), both) == both
    with pytest.raises(UserError, match="is of another card"):
        sign(card("ba9876543210"), private_key(other, "key"), both)


def test_both_alphabets_of_base64_are_read_and_the_key_s_id_is_trusted_in_nothing() -> None:
    value = json.loads(signed())
    value["signatures"][0] |= {"sig": value["signatures"][0]["sig"].translate(str.maketrans("+/", "-_")), "keyid": "me"}
    value["payload"] = value["payload"].translate(str.maketrans("+/", "-_"))
    assert problems(json.dumps(value).encode()) == ()
    del value["signatures"][0]["keyid"]
    assert problems(json.dumps(value).encode()) == ()


def test_another_key_is_named() -> None:
    (problem,) = problems(signed(), pem=new_key()[1])
    assert "none of 1 is by key" in problem


def test_a_good_signature_of_another_card_is_found_by_the_digest() -> None:
    other = card("ba9876543210")
    (problem,) = problems(signed(other))
    assert "is of file sha256:" in problem and "none of" not in problem


def test_a_good_digest_under_a_bad_signature_is_found_by_the_signature() -> None:
    body = json.loads(statement(card()))
    body["predicate"]["mode"] = "real"
    forged = base64.b64encode(json.dumps(body).encode()).decode()
    named = problems(edited(payload=forged))
    assert any("none of 1 is by key" in line for line in named)
    assert any("another mode" in line for line in named)


def test_a_key_holder_s_statement_of_something_else_is_named() -> None:
    key = private_key(pair()[0], "key")
    for body, named in (
        (b'{"_type":"https://in-toto.io/Statement/v0.1"}', "no statement about a card"),
        (b"not JSON", "no statement about a card"),
        (statement(card()).replace(b"urn:trialbox:card:v1", b"urn:trialbox:card:v9"), "no statement about a card"),
    ):
        sig = base64.b64encode(key.sign(pae(PAYLOAD_TYPE, body))).decode()
        envelope = edited(payload=base64.b64encode(body).decode(), signatures=[{"sig": sig}])
        assert any(named in line for line in problems(envelope)), body
    (problem, *_) = problems(edited(payloadType="text/plain"))
    assert "payloadType is text/plain" in problem


def test_every_changed_byte_of_the_payload_or_the_signature_is_noticed() -> None:
    value = json.loads(signed())
    for field in ("payload", "sig"):
        raw = base64.b64decode(value[field] if field == "payload" else value["signatures"][0]["sig"])
        for place in range(0, len(raw), 7):
            bad = base64.b64encode(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]).decode()
            changes = {"payload": bad} if field == "payload" else {"signatures": [{"sig": bad}]}
            assert problems(edited(**changes)), (field, place)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"payload":"","payload":""}',
        b'{"payload":1,"payloadType":"x","signatures":[]}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_what_is_no_envelope_is_a_named_mistake(data: bytes) -> None:
    with pytest.raises(UserError, match="is no DSSE envelope"):
        problems(data)


def test_an_envelope_without_signatures_or_with_broken_ones_is_signed_by_nobody() -> None:
    for signatures in ([], [{"sig": "???"}], [{"sig": ""}], [{"sig": "AAAA"}]):
        assert "is by key" in problems(edited(signatures=signatures))[0]
    with pytest.raises(UserError, match="not base64"):
        problems(edited(payload="???"))
    with pytest.raises(UserError, match="at most"):
        problems(b" " * (1 << 21))


def test_keys_of_other_kinds_are_named() -> None:
    private, public = pair()
    encrypted = private_key(private, "k").private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"p")
    )
    other = generate_private_key(SECP256R1())
    wrong = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for pem, said in (
        (encrypted, "is encrypted"),
        (wrong, "no Ed25519"),
        (b"x", "no private key"),
        (public, "no private"),
    ):
        with pytest.raises(UserError, match=said):
            private_key(pem, "k")
    wrong = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for pem, said in ((private, "is a private key"), (wrong, "no Ed25519"), (b"x", "no public key")):
        with pytest.raises(UserError, match=said):
            public_key(pem, "k")
    assert len(keyid(public_key(public, "k"))) == 64


def test_a_key_is_needed_to_check_a_signature(tmp_path: Path) -> None:
    for words in (("--signature",), ("--key", "k.pub")):
        ran = trialbox(tmp_path / "home", "card", "verify", *words)
        assert (ran.code, ran.line) == (
            2,
            "trialbox: --signature: takes the signer's key with it; give both --signature and --key FILE.pub",
        )

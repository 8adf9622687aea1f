"""A card's signature: an in-toto statement about its file, in a DSSE envelope, signed with Ed25519.

Statement v1 (in-toto attestation framework) and DSSE 1.0.2: what is signed is the pre-authentication encoding of the
payload's exact bytes, which are never written anew before they are checked. A signature says who signed and nothing of
whether the card is true; so both are checked, the signature and that it is of this very file.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.digest import Digest, canonical, loads
from harness.errors import UserError
from harness.records import to_value
from harness.untrusted import clean_text
from scoring.card import Card
from scoring.keys import keyid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:trialbox:card:v1"
MAX_ENVELOPE = 1 << 20
"""Bytes of an envelope."""


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Signature(_Form):
    """One signature. ``keyid`` is a hint and trusted in nothing."""

    keyid: str = ""
    sig: str


class Envelope(_Form):
    """DSSE's envelope; payload and signatures in base64, of either alphabet."""

    payload: str
    payload_type: str = Field(alias="payloadType")
    signatures: tuple[Signature, ...]

    def to_bytes(self) -> bytes:
        """The envelope's file."""
        return canonical(self.model_dump(mode="json", by_alias=True))


class Subject(_Form):
    """A file by name and sha256 (hex)."""

    name: str
    digest: dict[str, str]


class About(_Form):
    """What the statement says of the card: its id and core, and what it is a card of."""

    id: Digest
    core_digest: Digest
    suite: str
    mode: str
    provider: str


class Statement(_Form):
    """An in-toto statement about one card file."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:trialbox:card:v1"] = Field(PREDICATE_TYPE, alias="predicateType")
    predicate: About


@dataclass(frozen=True)
class Checked:
    """What came of a check: the ids of the keys that signed, and what is wrong."""

    keyids: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether a wanted key signed this very card."""
        return not self.problems


def pae(payload_type: str, body: bytes) -> bytes:
    """DSSE's pre-authentication encoding: ``DSSEv1 LEN(type) type LEN(body) body``, lengths in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)


def statement(card: Card) -> bytes:
    """The statement about a card; the same bytes each time."""
    data = card.to_bytes()
    plan = card.core.plan
    said = Statement(
        subject=(
            Subject(
                name=f"{card.id.removeprefix('sha256:')}.json", digest={"sha256": hashlib.sha256(data).hexdigest()}
            ),
        ),
        predicate=About(
            id=card.id,
            core_digest=card.core_digest,
            suite=f"{plan.suite.name}@{plan.suite.version}:{plan.suite.hash}",
            mode=plan.mode.value,
            provider=plan.provider,
        ),
    )
    return canonical(said.model_dump(mode="json", by_alias=True))


def sign(card: Card, key: Ed25519PrivateKey, before: bytes | None = None) -> bytes:
    """An envelope with this key's signature, beside those of *before*, an earlier envelope of the same card.

    Raises:
        UserError: *before* is none, or of something else.
    """
    body = statement(card)
    others: tuple[Signature, ...] = ()
    if before is not None:
        there = read_envelope(before, "the signature that is there")
        if (there.payload_type, _decoded(there.payload)) != (PAYLOAD_TYPE, body):
            raise UserError("the signature that is there", "is of another card or statement", "remove it")
        others = there.signatures
    own = Signature(keyid=keyid(key.public_key()), sig=_encoded(key.sign(pae(PAYLOAD_TYPE, body))))
    kept = tuple(one for one in others if one.keyid != own.keyid)
    return Envelope(payload=_encoded(body), payload_type=PAYLOAD_TYPE, signatures=(*kept, own)).to_bytes()


def check(envelope: bytes, card: Card, data: bytes, key: Ed25519PublicKey) -> Checked:
    """Whether *key* signed the card whose file is *data*: the signature, and what it is of, each for itself.

    Raises:
        UserError: the envelope is none.
    """
    found = read_envelope(envelope, "signature")
    body = _decoded(found.payload)
    if body is None:
        raise UserError("signature: payload", "is not base64", "get the signature again")
    problems = []
    if found.payload_type != PAYLOAD_TYPE:
        problems.append(f"signature: payloadType is {clean_text(found.payload_type, 60)}, not {PAYLOAD_TYPE}")
    signed = pae(found.payload_type, body)
    if not any(_is_by(key, one, signed) for one in found.signatures):
        problems.append(f"signature: none of {len(found.signatures)} is by key {keyid(key)[:16]} over this statement")
    problems += _of_another(body, card, data)
    return Checked(tuple(clean_text(one.keyid, 80) for one in found.signatures), tuple(problems))


def _of_another(body: bytes, card: Card, data: bytes) -> list[str]:
    """How the statement is of something else than the card."""
    try:
        said = Statement.model_validate(loads(body))
    except (ValueError, RecursionError, ValidationError) as error:
        return [f"signature: its payload is no statement about a card ({clean_text(str(error).splitlines()[0])})"]
    actual = hashlib.sha256(data).hexdigest()
    stated = [one.digest.get("sha256") for one in said.subject]
    if stated != [actual]:
        return [f"signature: is of file sha256:{clean_text(str(stated[:1]), 80)}, this card's is sha256:{actual}"]
    wanted: dict[str, Any] = to_value(Statement.model_validate(loads(statement(card))).predicate)
    wrong = [name for name, value in to_value(said.predicate).items() if value != wanted[name]]
    return [f"signature: its predicate says another {wrong[0]} than the card"] if wrong else []


def read_envelope(data: bytes, where: str) -> Envelope:
    """An envelope from bytes that anybody may have written.

    Raises:
        UserError: they are none.
    """
    if len(data) > MAX_ENVELOPE:
        raise UserError(where, f"has {len(data)} bytes, at most {MAX_ENVELOPE} are read", "get the signature again")
    try:
        return Envelope.model_validate(loads(data))
    except (ValueError, RecursionError, ValidationError) as error:
        first = clean_text(str(error).splitlines()[0])
        raise UserError(where, f"is no DSSE envelope: {first}", "get the signature again") from error


def _is_by(key: Ed25519PublicKey, one: Signature, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    raw = _decoded(one.sig)
    if raw is None:
        return False
    try:
        key.verify(raw, signed)
    except InvalidSignature:
        return False
    return True


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str) -> bytes | None:
    """Base64 of either alphabet; None if it is none."""
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None

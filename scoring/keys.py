"""Ed25519 keys as PEM, for signatures on cards. ``cryptography`` is loaded when a key is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from harness.errors import UserError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def keyid(key: Ed25519PublicKey) -> str:
    """The sha256 (hex) of the public key as DER."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def new_key() -> tuple[bytes, bytes]:
    """A new key pair as PEM: the private key (PKCS 8, not encrypted) and the public one."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def private_key(pem: bytes, where: str) -> Ed25519PrivateKey:
    """A private key from PEM.

    Raises:
        UserError: it is none, is encrypted, or is of another kind.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError as error:
        raise UserError(
            where, "is encrypted", "give a key without a passphrase, kept where only you can read"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UserError(where, "is no private key in PEM", "--keygen makes one") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(where, "is no Ed25519 key", "--keygen makes one")
    return key


def public_key(pem: bytes, where: str) -> Ed25519PublicKey:
    """A public key from PEM. Raises UserError as :func:`private_key`."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY" in pem:
        raise UserError(where, "is a private key", "give the public one, the file that ends with .pub")
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UserError(where, "is no public key in PEM", "`trialbox card sign --keygen` makes a pair") from error
    if not isinstance(key, Ed25519PublicKey):
        raise UserError(where, "is no Ed25519 key", "`trialbox card sign --keygen` makes a pair")
    return key

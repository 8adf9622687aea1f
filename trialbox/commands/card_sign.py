"""``trialbox card sign``: a card's signature, in a file beside it."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import line, of_a_card, say


class SignOptions(Options):
    """What ``sign`` takes."""

    name: str
    key: str
    keygen: bool


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    about = "a card's id or its beginning, a card file, or latest (default)"
    add("name", metavar="CARD", nargs="?", default="latest", help=about)
    add("--key", metavar="FILE", required=True, help="an Ed25519 private key in PEM")
    add("--keygen", action="store_true", help="make the key first: FILE, which only you can read, and FILE.pub")


@of_a_card
def sign(options: SignOptions) -> ExitCode:
    """Sign a card: an in-toto statement of its digest in a DSSE envelope, beside the card's file.

    Signing again with another key adds a signature. `trialbox card verify CARD --signature --key FILE.pub` checks it.
    """
    from harness.files import atomic_write
    from harness.store import LocalStore
    from scoring import keys
    from scoring import sign as signing
    from trialbox import places
    from trialbox.cards import load_whole, signature_path
    from trialbox.material import check_card

    state = places.state()
    card, path = load_whole(options.name, LocalStore(state.blobs))
    check_card(card)
    file = Path(options.key)
    if options.keygen:
        make_key(file)
    key = keys.private_key(read_key(file), str(file))
    target = signature_path(path)
    envelope = signing.sign(card, key, target.read_bytes() if target.is_file() else None)
    atomic_write(target, envelope)
    identity = keys.keyid(key.public_key())
    if options.as_json:
        say({"card": card.id, "signature": str(target), "keyid": identity})
    else:
        line(f"signed {card.id} with key {identity[:16]}: {target}")
    return ExitCode.DONE


def make_key(file: Path) -> None:
    """Write a new pair of keys.

    Raises:
        UserError: one of the files is there already.
        StorageError: the disk refuses.
    """
    from harness.errors import UserError
    from harness.files import atomic_write
    from scoring.keys import new_key

    public = file.with_name(f"{file.name}.pub")
    for one in (file, public):
        if one.exists():
            raise UserError(
                "--keygen", f"{one} exists, and no key is overwritten", "leave --keygen out to sign with it"
            )
    private_pem, public_pem = new_key()
    atomic_write(file, private_pem, mode=0o600)
    atomic_write(public, public_pem)


def read_key(file: Path) -> bytes:
    """The bytes of a key's file.

    Raises:
        UserError: it can't be read.
    """
    from harness.errors import UserError

    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"--key {file}", f"can't be read ({error.strerror})", "--keygen makes a new key") from error


COMMAND = Command("sign", sign, SignOptions, declare)

"""``trialbox card verify``: whether a card, here or in a bundle, is what it says, and who signed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import line, say

if TYPE_CHECKING:
    from scoring.sign import Checked
    from scoring.verify import Verification


_SAID = {
    "bytes": "every byte and blob, and the core's aggregates from its own cells; `--depth derived` works out all of it"
    " again from the evidence",
    "derived": "also every figure, worked out again from the evidence",
}


class VerifyOptions(Options):
    """What ``verify`` takes."""

    name: str
    signature: bool
    key: str | None
    depth: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    about = "a card's id or its beginning, a card file, latest (default), or a bundle: a file or a folder"
    add("name", metavar="CARD|BUNDLE", nargs="?", default="latest", help=about)
    add("--signature", action="store_true", help="also check that the key of --key signed this very card")
    add("--key", metavar="FILE", help="the signer's Ed25519 public key in PEM")
    about = "bytes: the card, every blob, and the core's aggregates from its cells; derived: also every figure from the"
    about += " evidence (default: derived for up to 2,000 attempts)"
    add("--depth", choices=("bytes", "derived"), help=about)


def verify(options: VerifyOptions) -> ExitCode:
    """Check a card and all its evidence, offline: 0 if whole, 1 if not, naming what is wrong.

    With --signature the signature beside the card (or in the bundle) must be by the key of --key and of this very file.
    """
    from harness.errors import NotWhole, VerifyError

    try:
        name, result, data, envelope, reviewed = _read(options)
    except VerifyError as error:
        raise NotWhole(error.where, error.problem, error.remedy) from error
    problems = list(result.problems)
    identity = result.card.id if result.card else None
    signed = None
    if result.card is not None and options.signature:
        signed = _signed(options, envelope, result, data)
        problems += signed.problems
    if options.as_json:
        said: dict[str, object] = {"id": identity, "ok": not problems, "problems": problems, "blobs": result.blobs}
        said["depth"] = result.depth.value
        if reviewed:
            said["reviewed"] = list(reviewed)
        if signed is not None:
            said["signature"] = {"ok": signed.ok, "keyids": list(signed.keyids)}
        say(said)
    elif not problems:
        what = "core, measured values and" if result.depth.value == "derived" else "its bytes and"
        line(f"{identity} is whole: {what} {result.blobs} blobs are what they say")
        line(f"depth {result.depth.value}: {_SAID[result.depth.value]}")
        for blob in reviewed:
            line(f"blob {blob} has text in the shape of a key; whoever made the bundle says that it is none")
        if signed is not None:
            line(f"signed by the key of {options.key}")
    else:
        for problem in problems:
            line(f"{name}: {problem}")
        if identity is not None:
            line(f"depth {result.depth.value}: {_SAID[result.depth.value]}")
    return ExitCode.NO if problems else ExitCode.DONE


def _read(options: VerifyOptions) -> tuple[str, Verification, bytes, bytes | None, tuple[str, ...]]:
    """What to call it, what came of it, the card's bytes (where they are needed), its signature, and the blobs of a
    bundle that were let through with text in the shape of a key."""
    from harness.errors import UserError
    from harness.store import LocalStore
    from scoring.card import find_card, read_card
    from scoring.unbundle import is_bundle, read_bundle
    from scoring.verify import Depth
    from trialbox import places
    from trialbox.cards import expected_id, signature_path
    from trialbox.verifying import verify_derived, verify_path

    if options.signature != (options.key is not None):
        raise UserError("--signature", "takes the signer's key with it", "give both --signature and --key FILE.pub")
    depth = None if options.depth is None else Depth(options.depth)
    path = Path(options.name)
    if is_bundle(path):
        if depth is Depth.BYTES:
            raise UserError("--depth", "a bundle is always verified wholly", "leave it out")
        bundle = read_bundle(path)
        result = verify_derived(bundle.card_bytes, bundle.store)
        return path.name, result, bundle.card_bytes, bundle.signature, bundle.config.reviewed
    state = places.state()
    path = find_card(state.cards, options.name)
    result = verify_path(path, LocalStore(state.blobs), expected_id(options.name, path.stem), depth)
    beside = signature_path(path) if options.signature else None
    signature = beside.read_bytes() if beside is not None and beside.is_file() else None
    return path.name, result, read_card(path) if options.signature else b"", signature, ()


def _signed(options: VerifyOptions, envelope: bytes | None, result: Verification, data: bytes) -> Checked:
    from scoring.keys import public_key
    from scoring.sign import Checked, check
    from trialbox.commands.card_sign import read_key

    file = Path(options.key or "")
    key = public_key(read_key(file), str(file))
    if envelope is None or result.card is None:
        return Checked((), ("signature: there is none",))
    return check(envelope, result.card, data, key)


COMMAND = Command("verify", verify, VerifyOptions, declare)

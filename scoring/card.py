"""The card: RFC 8785 canonical JSON whose id is the sha256 of itself without the id.

A card has a core that must reproduce, measured values, and a stamp; each part of each has its own digest in
``sections``, so that a verifier can say which one was changed. Integers, strings, booleans and null only.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from harness.digest import Digest, canonical, digest, loads
from harness.errors import InfraError, UserError
from harness.files import atomic_write
from harness.records import Record, from_json, to_value
from scoring.core import Core, make_core
from scoring.evidence import Evidence
from scoring.measured import Measured, make_measured
from scoring.stamp import Circumstances, Stamp, make_stamp

PARTS = ("core", "measured", "stamp")


class Card(Record):
    """A stamped result. Written once; its file's bytes are exactly :meth:`to_bytes`."""

    schema_version: Literal[1] = 1
    id: Digest
    core_digest: Digest
    core: Core
    measured: Measured
    stamp: Stamp
    sections: dict[str, Digest]
    """The digest of each part's each field, such as ``core.cells``."""

    def to_bytes(self) -> bytes:
        """The card's file."""
        return canonical(to_value(self))

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Self:
        """Read a card; its digests are not checked here.

        Raises:
            VerifyError: the bytes are no card.
        """
        return from_json(cls, data, where)


def make_card(evidence: Evidence, made: Circumstances) -> Card:
    """Stamp a finished run.

    Raises:
        UserError: a planned cell has not ended.
    """
    try:
        parts: dict[str, Any] = {
            "core": to_value(make_core(evidence)),
            "measured": to_value(make_measured(evidence)),
            "stamp": to_value(make_stamp(evidence, made)),
        }
    except KeyError as error:
        raise UserError(
            f"run {made.run_id}", f"cell {error.args[0]} has not ended", f"trialbox run --resume {made.run_id}"
        ) from error
    body = {"schema_version": 1, "core_digest": digest(parts["core"]), **parts, "sections": section_digests(parts)}
    return Card.model_validate({**body, "id": digest(body)})


def section_digests(parts: Mapping[str, Any]) -> dict[str, str]:
    """The digest of each field of each part."""
    return {f"{part}.{name}": digest(value) for part in PARTS for name, value in parts[part].items()}


def card_id(value: Mapping[str, Any]) -> str:
    """The id that a card's own content gives it."""
    return digest({name: item for name, item in value.items() if name != "id"})


# ----------------------------------------------------------------------------------------------------------- card files


def card_path(folder: Path, identity: str) -> Path:
    """Where a card of that id is kept."""
    return folder / f"{identity.removeprefix('sha256:')}.json"


def write_card(folder: Path, card: Card) -> Path:
    """Keep a card under its id."""
    path = card_path(folder, card.id)
    atomic_write(path, card.to_bytes())
    return path


def card_ids(folder: Path) -> tuple[str, ...]:
    """The ids of the cards in a folder, oldest first."""
    if not folder.is_dir():
        return ()
    files = [path for path in folder.glob("*.json") if len(path.stem) == 64]
    return tuple(f"sha256:{path.stem}" for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.stem)))


def find_card(folder: Path, name: str) -> Path:
    """The file of a card: a path, an id, the beginning of one (eight digits or more), or ``latest``.

    Raises:
        UserError: there is none, or more than one.
    """
    if name.endswith(".json") or "/" in name:
        path = Path(name)
        if not path.is_file():
            raise UserError(name, "there is no such card file", "`trialbox card list` shows the cards here")
        return path
    ids = card_ids(folder)
    wanted = name.removeprefix("sha256:")
    found = ids[-1:] if name == "latest" else [one for one in ids if one.removeprefix("sha256:").startswith(wanted)]
    if len(found) != 1 or (len(wanted) < 8 and name != "latest"):
        problem = "fits more than one card" if len(found) > 1 else "is no card of this state folder"
        raise UserError(
            f"card {name}", problem, "`trialbox card list` shows the cards; eight digits of the id are enough"
        )
    return card_path(folder, found[0])


def read_card(path: Path) -> bytes:
    """The bytes of a card file.

    Raises:
        InfraError: it can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error


def parse(data: bytes) -> Any:
    """A card's bytes as plain values, strictly.

    Raises:
        ValueError: not JSON, or ambiguous.
    """
    return loads(data)

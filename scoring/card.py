"""The card: RFC 8785 canonical JSON whose id is the sha256 of itself without the id.

A card has a core that must reproduce, measured values, and a stamp; each part of each has its own digest in
``sections``, so that a verifier can say which one was changed. Integers, strings, booleans and null only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import model_validator

from harness.digest import Digest, canonical, digest, loads_exact
from harness.errors import InfraError, UserError
from harness.files import atomic_write
from harness.records import Record, from_json, to_value
from scoring.core import Core, make_core
from scoring.evidence import Evidence
from scoring.measured import Measured, make_measured
from scoring.stamp import Circumstances, Stamp, make_stamp

_LATER = "is of a later trialbox"
PARTS = ("core", "measured", "stamp")

_ID = re.compile(r"latest|(sha256:)?[0-9a-f]{8,64}")

SCHEMA_VERSION: Final = 1
"""Of the cards that are written. Cards of each version up to this one are read, for ever."""


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

    @model_validator(mode="after")
    def _of_one_plan(self) -> Self:
        """Digests can be worked out anew by anybody; that the solvers are the plan's every reader relies on."""
        solvers = {one.name for one in self.core.plan.solvers}
        for part, found in (("core.aggregates", self.core.aggregates), ("measured.solvers", self.measured.solvers)):
            if found.keys() != solvers:
                raise ValueError(f"{part}: is not of the plan's solvers")
        return self

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
    body = {
        "schema_version": SCHEMA_VERSION,
        "core_digest": digest(parts["core"]),
        **parts,
        "sections": section_digests(parts),
    }
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
    path = Path(name)
    if name.endswith(".json") or "/" in name or (not _ID.fullmatch(name) and path.is_file()):
        if not path.is_file():
            raise UserError(name, "there is no such card file", "`trialbox card list` shows the cards here")
        return path
    ids = card_ids(folder)
    if not ids:
        raise UserError(f"card {name}", "this state folder has no card yet", "`trialbox run smoke` makes one")
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
        ValueError: not JSON, or ambiguous: a duplicate key, or a number that not every reader holds exactly.
    """
    return loads_exact(data)


def newer_schema(value: Any) -> str | None:
    """Why a card of a later trialbox can't be read here; None if its schema version is known."""
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version <= SCHEMA_VERSION:
        return None
    return f"schema_version: {version} {_LATER}; this one reads up to {SCHEMA_VERSION}"


def remedy_of(problem: str, name: str = "") -> str:
    """What to do about a card that can't be taken as it is."""
    if _LATER in problem:
        return "upgrade trialbox"
    return f"`trialbox card verify{name and ' '}{name}` says all; put back a copy"

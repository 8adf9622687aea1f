"""The published JSON schema of cards, made from the models that write and read them.

``card-1.json`` is for anybody who reads cards without this code. A card that has been written always fits it; what it
can't say (digests that agree, figures that follow from the evidence) is what ``trialbox card verify`` checks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scoring.card import SCHEMA_VERSION, Card

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_path(version: int = SCHEMA_VERSION) -> Path:
    """The file of a schema version."""
    return Path(__file__).parent / f"card-{version}.json"


def published_schema(version: int = SCHEMA_VERSION) -> bytes:
    """The schema as it is published."""
    return schema_path(version).read_bytes()


def card_schema() -> dict[str, Any]:
    """The schema that the models give now."""
    made = Card.model_json_schema(mode="validation")
    return {"$schema": DIALECT, "$id": f"urn:trialbox:card:{SCHEMA_VERSION}", **made, "title": "trialbox card"}


def schema_text() -> bytes:
    """The same as its file holds it."""
    return json.dumps(card_schema(), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"

"""One record as a line, and back."""

import json
import re
import zlib
from dataclasses import dataclass

_ESCAPES = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}


@dataclass(frozen=True)
class Record:
    """A key and its text; None is a tombstone."""

    key: str
    text: str | None


def encode(record: Record) -> str:
    """A line of version 2, without its newline."""
    words = ["del", record.key] if record.text is None else ["put", record.key, record.text]
    body = json.dumps(words, ensure_ascii=False)
    return f"{checksum(body)} {body}"


def checksum(body: str) -> str:
    """Eight hex digits."""
    return f"{zlib.crc32(body.encode()):08x}"


def decode(line: str, version: int) -> Record | None:
    """A record, or None if the line holds none."""
    if version == 1:
        words = [_unescape(word) for word in line.split("\t")]
    else:
        digits, _, body = line.partition(" ")
        if digits != checksum(body):
            return None
        try:
            words = json.loads(body)
        except ValueError:
            return None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or not words:
            return None
    if words[0] == "put" and len(words) == 3:
        return Record(words[1], words[2])
    if words[0] == "del" and len(words) == 2:
        return Record(words[1], None)
    return None


def _unescape(word: str) -> str:
    return re.sub(r"\\[tn\\]", lambda found: _ESCAPES[found[0]], word)

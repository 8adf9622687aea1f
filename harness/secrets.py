"""Keys in bytes that are about to leave this machine: known ones by their value, others by the shape that they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.gateway.redact import forms

SHAPES = {
    "an Anthropic key": rb"sk-ant-[A-Za-z0-9_-]{24,}",
    "an OpenRouter key": rb"sk-or-v1-[0-9a-f]{40,}",
    "an OpenAI key": rb"sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{32,}|sk-[A-Za-z0-9]{40,}",
    "a Google key": rb"AIza[0-9A-Za-z_-]{35}",
    "a GitHub token": rb"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}",
    "a GitLab token": rb"glpat-[A-Za-z0-9_-]{20,}",
    "an AWS key id": rb"A(?:KIA|SIA)[0-9A-Z]{16}",
    "a Hugging Face token": rb"hf_[A-Za-z0-9]{30,}",
    "a Slack token": rb"xox[abeoprs]-[A-Za-z0-9-]{20,}",
    "a private key": rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----",
}
"""What a key looks like, by what it is."""

_ANY = re.compile(rb"|".join(rb"(?<![A-Za-z0-9_-])(?:" + shape + rb")(?![A-Za-z0-9_-])" for shape in SHAPES.values()))
_EACH = {what: re.compile(shape) for what, shape in SHAPES.items()}
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_SHORTEST_UNNAMED = 16
"""Of a variable that only sounds like a key's: a shorter value may be any word."""


@dataclass(frozen=True)
class Secret:
    """What was found, and at which byte and line (from 1). Never the secret itself."""

    what: str
    offset: int
    line: int
    known: bool
    """Found by its value, so it is a key; otherwise it has only the shape of one."""


@dataclass(frozen=True)
class Known:
    """The values of keys, by whose they are."""

    values: Mapping[str, frozenset[bytes]]

    @classmethod
    def of(cls, environ: Mapping[str, str], named: Iterable[str]) -> Known:
        """The keys in an environment: of the variables that are *named*, and of those that sound like one."""
        sure = set(named)
        taken = {
            name: value.strip()
            for name, value in environ.items()
            if name in sure or (_NAMES.search(name.upper()) and len(value.strip()) >= _SHORTEST_UNNAMED)
        }
        return cls({f"the value of {name}": found for name, value in taken.items() if (found := forms(value))})


def find_secrets(data: bytes, known: Known) -> Iterator[Secret]:
    """Each kind of secret in *data*, at the first place where it is."""
    for what, values in known.values.items():
        places = [at for value in values if (at := data.find(value)) >= 0]
        if places:
            yield _at(data, what, min(places), known=True)
    seen: set[str] = set()
    for match in _ANY.finditer(data):
        what = next(what for what, shape in _EACH.items() if shape.match(match[0]))
        if what not in seen:
            seen.add(what)
            yield _at(data, what, match.start(), known=False)


def _at(data: bytes, what: str, offset: int, *, known: bool) -> Secret:
    return Secret(what, offset, data.count(b"\n", 0, offset) + 1, known)

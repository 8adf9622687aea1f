"""What is known of the program that starts the containers: escapes that its version number suggests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.records import Record

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-rc\.?(\d+))?")
_FINAL = 10_000
"""Sorts a release after its release candidates."""

_Version = tuple[int, int, int, int]

_FIXES: tuple[tuple[tuple[str, ...], tuple[_Version, ...]], ...] = (
    (("CVE-2024-21626",), ((1, 1, 12, _FINAL),)),
    (
        ("CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"),
        ((1, 2, 8, _FINAL), (1, 3, 3, _FINAL), (1, 4, 0, 3)),
    ),
)
"""Container escapes of runc, each with the first repaired version of every release line that was repaired."""


class Advisory(Record):
    """A warning about the container runtime; ``kind`` is what records and cards call it."""

    kind: str = "runtime_vulnerable"
    component: str
    version: str
    """As the engine reports it, so with the distribution's suffix."""
    identifiers: tuple[str, ...]
    fixed_in: tuple[str, ...]
    """The first upstream versions without it, by release line."""
    note: str


def runtime_version(components: list[Mapping[str, Any]]) -> tuple[str, str]:
    """Name and version of the runtime among the ``Components`` of the engine's version answer.

    ``("unknown", "unknown")`` where the engine names none. Docker says ``runc``, Podman ``OCI Runtime (crun)``.
    """
    for component in components:
        name = str(component.get("Name", ""))
        match = re.fullmatch(r"runc|crun|OCI Runtime \((\w+)\)", name)
        if match:
            text = str(component.get("Version", "")).splitlines()[:1]
            version = re.search(r"\d+\.\d+\S*", text[0]) if text else None
            return match[1] or name, version[0] if version else "unknown"
    return "unknown", "unknown"


def advisories(component: str, version: str) -> tuple[Advisory, ...]:
    """The known escapes of a runc older than their repair; none for a runtime or version that isn't understood.

    Distributions repair old versions without changing the upstream number, so this is a reason to look, not a finding.
    """
    parsed = _VERSION.match(version)
    if component != "runc" or parsed is None:
        return ()
    have = (int(parsed[1]), int(parsed[2]), int(parsed[3]), int(parsed[4]) if parsed[4] else _FINAL)
    return tuple(
        Advisory(
            component=component,
            version=version,
            identifiers=identifiers,
            fixed_in=tuple(_text(fix) for fix in fixes),
            note="the upstream version is below the repair; check whether your distribution has backported it",
        )
        for identifiers, fixes in _FIXES
        if _precedes(have, fixes)
    )


def _precedes(have: _Version, fixes: tuple[_Version, ...]) -> bool:
    """Whether a version is older than the repair of its own release line, or belongs to a line older than all."""
    line = next((fix for fix in fixes if fix[:2] == have[:2]), None)
    return have < (line or fixes[0])


def _text(version: _Version) -> str:
    major, minor, patch, candidate = version
    return f"{major}.{minor}.{patch}" + ("" if candidate == _FINAL else f"-rc.{candidate}")

"""``[source]`` and ``[fix]`` of a repo task: a public release to start from, and the hunks of one fix of a later one.

No text of the project's is committed: releases are named by version and digest, hunks by file and digest.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.digest import Digest
from harness.suites.parse import FileModel
from harness.suites.paths import RelativePath

MAX_CHANGED_LINES = 200
"""Removed and added lines that one fix may have."""

ProjectName = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=100)]
ReleaseVersion = Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.!+]*$", max_length=60)]


class SourceSpec(FileModel):
    """The starting tree: a project's source distribution, less its one top folder.

    ``include`` and ``exclude`` name files, or folders with all that they hold; without ``include`` it is everything.
    """

    project: ProjectName
    """As a requirement of pip's names it."""
    version: ReleaseVersion
    sha256: Digest
    """Of the source distribution's archive."""
    include: tuple[RelativePath, ...] = ()
    exclude: tuple[RelativePath, ...] = ()
    tree: Digest
    """Of the tree that comes of it."""

    def wants(self, path: str) -> bool:
        """Whether the file at *path* is part of the starting tree."""
        return (not self.include or _within(path, self.include)) and not _within(path, self.exclude)


class HunkSpec(FileModel):
    """One hunk, by file and digest (:attr:`harness.suites.hunks.Hunk.sha256`)."""

    file: RelativePath
    sha256: Digest


class FixSpec(FileModel):
    """The reference: hunks of one fix, cut out of what changed up to a later release of the same project."""

    version: ReleaseVersion
    sha256: Digest
    """Of the later release's source distribution."""
    tree: Digest
    """Of the starting tree with the hunks applied."""
    hunks: Annotated[tuple[HunkSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _no_hunk_twice(self) -> Self:
        if len(set(self.hunks)) != len(self.hunks):
            raise ValueError("hunks names one twice")
        return self


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(place + "/") for place in places)

"""``format = "repo"``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from harness.suites.formats.authored import ProjectTask
from harness.suites.formats.common import AuthorKind, ReferenceSpec
from harness.suites.formats.source import FixSpec, SourceSpec


class RepoTask(ProjectTask):
    """``format = "repo"``: a multi-file project with hidden behaviour and regression groups.

    With ``source`` and ``fix`` its starting tree and its reference come from a public project's releases, and there are
    no folders ``before/`` and ``reference/``.
    """

    format: Literal["repo"]
    source: SourceSpec | None = None
    fix: FixSpec | None = None

    @model_validator(mode="after")
    def _released_or_not(self) -> Self:
        if (self.source is None) != (self.fix is None):
            raise ValueError("tables [source] and [fix] go together")
        if self.source is not None and self.reference != ReferenceSpec():
            raise ValueError("reference has no place beside [fix], which is the reference")
        if self.source is not None and self.provenance.author_kind is not AuthorKind.UPSTREAM:
            raise ValueError("provenance.author_kind of a task with [source] should be 'upstream'")
        return self

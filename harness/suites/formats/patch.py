"""``format = "patch"``."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.suites.formats.reply import ReplyTask


class PatchTask(ReplyTask):
    """``format = "patch"``: seed files and an issue, answered with a unified diff."""

    format: Literal["patch"]
    budget_lines: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """The most lines, added and removed together, that the answer may change."""

    @model_validator(mode="after")
    def _target_is_whole(self) -> Self:
        if self.export is not None and self.target is None:
            raise ValueError("export names something in a target: target is missing")
        if self.typecheck and self.target is None:
            raise ValueError("typecheck is about a target: target is missing")
        return self

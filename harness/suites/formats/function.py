"""``format = "function"``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.suites.formats.reply import ReplyTask, Target
from harness.suites.groups import CasesGroup, GroupKind, OperationsGroup
from harness.suites.oracles import Identifier

FunctionGroup = Annotated[CasesGroup | OperationsGroup, Field(discriminator="oracle")]


class FunctionTask(ReplyTask):
    """``format = "function"``: a spec to be answered with one module, graded by calls of one function or class."""

    needs: ClassVar[tuple[GroupKind, ...]] = (GroupKind.BEHAVIOUR,)

    format: Literal["function"]
    target: Target
    export: Identifier
    groups: Annotated[tuple[FunctionGroup, ...], Field(min_length=1)]

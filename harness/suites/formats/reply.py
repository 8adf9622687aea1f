"""What formats ``function`` and ``patch`` have in common: the solver may answer with a reply."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from harness.suites.formats.authored import AuthoredTask
from harness.suites.oracles import Identifier
from harness.suites.paths import RelativePath

REPLY = "reply.md"
"""A candidate's one file: what a worker would answer, prose and fenced blocks."""

TYPING_IMAGE = "typing"
"""The image that holds the type checker."""


def module_of(path: str) -> str:
    """The dotted name under which a file of the workspace is imported.

    Raises:
        ValueError: it can't be imported under any.
    """
    stem = path.removesuffix(".py")
    if stem == path or not all(re.fullmatch(r"[A-Za-z_]\w*", part, re.ASCII) for part in stem.split("/")):
        raise ValueError(f"should be a Python module's path such as 'solution.py', got {path!r}")
    return stem.removesuffix("/__init__").replace("/", ".")


def _check_target(path: str) -> str:
    module_of(path)
    return path


Target = Annotated[RelativePath, AfterValidator(_check_target)]


class ReplyTask(AuthoredTask):
    """A task whose answer is read from the reply first, and from the workspace if there is none."""

    target: Target | None = None
    """The file that the answer is about, from the workspace."""
    export: Identifier | None = None
    """The function or class in it that is graded."""
    typecheck: bool = False
    """Whether ``mypy --strict`` must accept the target before anything is graded."""

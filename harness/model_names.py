"""Names of models: the id that a provider serves a model under, and the names that mean the same model."""

from __future__ import annotations

import re

_REST = re.compile(r"|[-@:](?:\d{6,8}|latest|v\d.*|\d{4}-\d\d-\d\d)")
"""What may follow an id in the name of the same model: a date, a version."""


def bare(name: str) -> str:
    """A model's name in lower case, without the provider before it."""
    return re.sub(r"^.*/", "", name.lower())


def names_model(name: str, model: str) -> bool:
    """Whether a name is that of *model*, an id in lower case: the id, or one that goes on with a date or a version."""
    rest = bare(name)
    return rest.startswith(model) and _REST.fullmatch(rest.removeprefix(model)) is not None

"""The programs of ``inside/`` as one text for ``python3 -c``: modules under names that no project uses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

_PACKAGE = "harness.oracles.inside."
_PREFIX = "_inside_"
_BOOT = """\
import sys, types
for name, text in {sources!r}:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, name, "exec"), module.__dict__)
sys.modules[{last!r}].main()
"""


@cache
def program(*modules: str) -> tuple[str, ...]:
    """A command that runs ``main()`` of the last of *modules*, each of which may import the ones before it.

    ``-P`` and ``-s`` keep the current and the user's folder out of the interpreter's path, ``-B`` writes no bytecode.
    """
    return ("python3", "-P", "-s", "-B", "-c", _BOOT.format(sources=_sources(modules), last=_PREFIX + modules[-1]))


def _sources(modules: Sequence[str]) -> list[tuple[str, str]]:
    folder = Path(__file__).with_name("inside")
    return [
        (_PREFIX + name, (folder / f"{name}.py").read_text(encoding="utf-8").replace(_PACKAGE, _PREFIX))
        for name in modules
    ]

"""What a change may not hold, and what is made harmless instead: decided on two trees, before anything runs. Pure.

Refused by name is only what would act before the first test does, or where no order of paths helps: interpreter hooks,
compiled artefacts and settings that change how tests run. Everything else is neutralised: visible tests come back as
they were, and what a pytest group would load from the candidate's tree is never loaded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.oracles.testconfig import (
    MAX_BYTES,
    NONE,
    Settings,
    UnreadableError,
    is_test_config,
    is_too_large,
    read_settings,
)
from harness.outcomes import Rejection
from harness.suites.tree import LINK, Entry, Tree
from harness.untrusted import clean_text

_HOOKS = frozenset({"sitecustomize", "usercustomize"})
_COMPILED = re.compile(r"\.(?:pyc|pyo|so(?:\.[0-9.]+)?|pyd|dll|dylib)$", re.IGNORECASE)
_MAX_SETTINGS = MAX_BYTES
"""Bytes of changed settings that are parsed in all, over every file."""
_MAX_FLAGS = 100
_PROGRAM = b"\x7fELF"
MAX_REPLACEMENT = 192 << 10
"""Bytes of new and changed files where the solver was given a program: room for ten replacements, not for the program,
which is linked statically and is larger than this however it is packed."""
_TOO_LARGE = "is too large to be read for settings"
_RUNNER = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"})
_SHADOWED = frozenset(sys.stdlib_module_names) | _RUNNER


@dataclass(frozen=True)
class Policy:
    """``rejection`` and one line of ``detail``, or None; ``flags`` name what was made harmless without a penalty.

    ``restore`` are paths that grading must give back as the task's own tree has them, or take away where it has none.
    """

    rejection: Rejection | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()


def examine(
    before: Tree,
    after: Tree,
    *,
    visible_tests: Sequence[str] = (),
    laid_tests: Sequence[str] = (),
    settings_matter: bool = True,
    take_programs_out: bool = False,
) -> Policy:
    """Judge what a candidate made of *before*.

    Args:
        before: the task's own tree.
        after: the candidate's.
        visible_tests: paths that are restored before grading.
        laid_tests: paths that grading lays over the tree, to be run there with what lies beside them: the candidate's
            ``conftest.py`` is theirs too, as upstream's own run would have it, and is named.
        settings_matter: whether any group runs with the candidate's own test settings (a plain test command does).
            Where none does, changed settings are flagged instead of refused.
        take_programs_out: whether files that hold a compiled program are taken out: the one that a solver was given to
            compare with must not answer for it. One that is encoded is seen by its size alone (``MAX_REPLACEMENT``).
    """
    changed = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    present = [after[path] for path in changed if path in after]
    for entry in present:
        if _is_hook(entry.path):
            return _refused(Rejection.INTERPRETER_HOOK, entry.path, "would run at every start of the interpreter")
        if _COMPILED.search(entry.path):
            return _refused(Rejection.COMPILED_ARTIFACT, entry.path, "is compiled: what it does can't be read")
    size = sum(len(entry.path.encode()) + len(entry.data) for entry in present)
    if take_programs_out and size > MAX_REPLACEMENT:
        detail = f"new and changed files hold {size} bytes; a replacement may hold {MAX_REPLACEMENT}"
        return Policy(Rejection.TREE_TOO_LARGE, detail)
    flags: list[str] = []
    room = _MAX_SETTINGS
    for path in filter(is_test_config, changed):
        room -= len(after[path].data) if path in after else 0
        what = _settings_change(before.get(path), after.get(path)) if room >= 0 else _TOO_LARGE
        if what and settings_matter:
            return _refused(Rejection.TEST_CONFIG_MODIFIED, path, what)
        if what:
            flags.append(f"test_config_modified: {clean_text(path)}")
    shadowing = _shadowing(before, present)
    runners = [name for name in shadowing if name in _RUNNER]
    if settings_matter and runners:  # the workspace comes first on the path there
        return _refused(Rejection.MODULE_SHADOWING, runners[0], "would be run in the place of the test runner")
    restored = sorted({*_conftests(changed, visible_tests), *(path for path in visible_tests if path in changed)})
    flags.extend(f"restored: {clean_text(path)}" for path in restored)
    loaded = sorted({*_conftests(changed, laid_tests)} - {*restored, *laid_tests})
    flags.extend(f"conftest_changed: {clean_text(path)}" for path in loaded)
    programs = [one.path for one in present if take_programs_out and _PROGRAM in one.data]
    flags.extend(f"program_taken_out: {clean_text(path)}" for path in programs)
    flags.extend(f"module_shadowing: {clean_text(name)}" for name in shadowing)
    more = (f"and {len(flags) - _MAX_FLAGS} more",) if len(flags) > _MAX_FLAGS else ()
    return Policy(flags=(*flags[:_MAX_FLAGS], *more), restore=tuple(sorted({*restored, *programs})))


def _refused(reason: Rejection, path: str, why: str) -> Policy:
    return Policy(reason, f"{clean_text(path)} {why}")


def _is_hook(path: str) -> bool:
    parts = path.split("/")
    module = parts[-1].removesuffix(".py") if parts[-1].endswith(".py") else ""
    return path.endswith(".pth") or module in _HOOKS or bool(_HOOKS & set(parts))


def _settings_change(before: Entry | None, after: Entry | None) -> str:
    """Why the change of one configuration file matters; empty if it doesn't.

    A file that could be parsed and no longer can counts as one without any setting: what reads it will complain, so
    this can only hide settings that were there.
    """
    if after is not None and after.mode == LINK and (before is None or before.mode != LINK):
        return "is a link where settings are read from"
    if after is not None and after.mode != LINK and is_too_large(after.data):
        return _TOO_LARGE
    old, new = _settings(before), _settings(after)
    if new is None:
        return "can't be parsed any more, and held settings of the tests" if old else ""
    keys = sorted(key for key in (old or NONE).keys() | new.keys() if (old or NONE).get(key) != new.get(key))
    if not keys:
        return ""
    named = ", ".join(clean_text(key, 40) for key in keys[:3] if key)
    return f"changes how tests run ({named})" if named else "changes where the tests' settings are read from"


def _settings(entry: Entry | None) -> Settings | None:
    """Its settings; None if they can't be read."""
    if entry is None:
        return NONE
    if entry.mode == LINK:
        return None
    try:
        return read_settings(entry.path, entry.data)
    except UnreadableError:
        return None


def _conftests(changed: Sequence[str], visible_tests: Sequence[str]) -> Iterator[str]:
    """Changed conftest.py files that the visible tests would load: those beside them or above."""
    above = {str(folder) for test in visible_tests for folder in PurePosixPath(test).parents}
    for path in changed:
        folder, _, name = path.rpartition("/")
        if name == "conftest.py" and (folder or ".") in above:
            yield path


def _shadowing(before: Tree, present: Sequence[Entry]) -> list[str]:
    """New top-level modules under names of the standard library or of pytest; our paths put those first."""
    old = {_top_module(path) for path in before}
    new = {_top_module(entry.path) for entry in present}
    return sorted(name for name in new - old if name in _SHADOWED)


def _top_module(path: str) -> str:
    first, slash, _ = path.partition("/")
    return first if slash else first.removesuffix(".py") if first.endswith(".py") else ""

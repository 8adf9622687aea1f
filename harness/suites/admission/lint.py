"""Whether the prompt says what the groups assert: a checklist against prompt, groups and candidates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from harness.suites.formats.authored import ChecklistEntry
from harness.suites.groups import GroupKind
from harness.suites.task import Task


def lint(task: Task, entries: tuple[ChecklistEntry, ...], failed: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """One line for each thing that is wrong with a checklist.

    Args:
        task: the task.
        entries: its checklist.
        failed: for each candidate, by name, the groups that failed it.
    """
    prompt = _plain(task.prompt)
    names = {group.name for group in task.groups}
    covered: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        where = f"checklist {number}"
        covered.update(entry.groups)
        if _plain(entry.prompt) not in prompt:
            yield f"{where}: the prompt does not say {_short(entry.prompt)!r}"
        for name in sorted(set(entry.groups) - names):
            yield f"{where}: there is no group {name!r}"
        for name in entry.wrong:
            if name not in failed:
                yield f"{where}: there is no candidate {name!r}"
            elif not failed[name] & set(entry.groups):
                yield f"{where}: candidate {name!r} passes every group that it names"
    for group in task.groups:
        if group.name not in covered:
            yield f"checklist: no entry covers group {group.name!r}"


def unshown(task: Task, failed: Mapping[str, frozenset[str]], kills: Iterable[str]) -> tuple[str, ...]:
    """The behaviour groups that only the base and noop are seen to fail.

    Args:
        task: the task.
        failed: for each candidate, by name, the groups that failed it.
        kills: for each mutant the groups that failed it, joined by commas.
    """
    seen = frozenset[str]().union(*failed.values(), *(kill.split(", ") for kill in kills))
    return tuple(one.name for one in task.groups if one.kind is GroupKind.BEHAVIOUR and one.name not in seen)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _short(text: str) -> str:
    plain = _plain(text)
    return plain if len(plain) <= 60 else plain[:57] + "..."

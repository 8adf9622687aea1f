"""What an import may use: the engine's images, the user's clones, and what was asked for on the command line."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.oracles.policy import examine
from harness.patching import PatchRefused, apply_patch
from harness.suites.foreign.draft import Note, limits_for
from harness.suites.foreign.environment import DEFAULT, Environment, Images
from harness.suites.foreign.trees import find_repository, read_image_folder, read_repository
from harness.suites.tree import Tree
from harness.untrusted import Refused


@dataclass
class Context:
    """Shared by all tasks of one import."""

    images: Images
    today: datetime.date
    image: str | None = None
    repos: Path | None = None
    build: bool = False
    _known: dict[str, Environment | None] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The handle of our own base image, where git runs."""
        return self.images.ours("base").handle

    def environment(self, candidates: Iterable[str]) -> tuple[Environment, tuple[Note, ...]]:
        """The image: the one asked for, else the first of the task's own names that the engine has, else ours.

        Raises:
            UserError: the one asked for is nowhere.
        """
        if self.image is not None:
            return self._named(self.image), ()
        names = [name for name in candidates if name]
        for name in names:
            if name not in self._known:
                self._known[name] = self.images.local(name)
            found = self._known[name]
            if found is not None:
                note = Note(
                    "image_by_tag", f"{name} is pinned to the id that this engine has it under; no lock makes it"
                )
                return found, (note,)
        missing = f"{names[0]} is named by tag alone and not in this engine; " if names else "it names none; "
        return self._named(DEFAULT), (Note("image", f"{missing}it runs in our image {DEFAULT!r}"),)

    def day(self, told: Any = None) -> tuple[datetime.date, tuple[Note, ...]]:
        """When the task was made, by what its files tell of it; else today, which is then said."""
        date = _date(told)
        if date is not None:
            return date, ()
        what = "its files tell no day" if told is None else f"{str(told)[:40]!r} is no day"
        return self.today, (
            Note("created", f"{what}, so the day of the import stands there: correct provenance.created"),
        )

    def _named(self, name: str) -> Environment:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self.images.named(name)
        return found

    def tree(
        self, repository: str, commit: str, environment: Environment, where: str
    ) -> tuple[Tree, str, tuple[Note, ...]]:
        """The starting tree, where it lies in the containers, and what of it could not be carried.

        Raises:
            UserError: neither --repos nor the image has it.
        """
        workspace = environment.folders[0] if environment.pinned and environment.folders else "/workspace"
        if self.repos is not None:
            folder = find_repository(self.repos, repository)
            tree, notes = read_repository(self.images.engine, self.base, folder, commit, self.images.owner, where)
            return tree, workspace, notes
        if environment.pinned is None or not environment.folders:
            raise UserError(
                f"{where}: repo",
                f"the tree of {repository} at {commit[:12]} is nowhere here",
                "give clones with --repos, or an image that holds it with --image",
            )
        tree, notes = read_image_folder(self.images.engine, environment.handle, workspace, self.images.owner, where)
        return (
            tree,
            workspace,
            (*notes, Note("commit", f"the tree is {workspace} of the image, not checked against {commit[:12]}")),
        )

    def patched(self, tree: Tree, patch: str, where: str) -> Tree:
        """The tree with a patch of the data set applied.

        Raises:
            UserError: it doesn't apply strictly.
        """
        if not patch.strip():
            return tree
        limits = limits_for(tree, {})
        try:
            return apply_patch(self.images.engine, self.base, tree, patch.encode(), limits, self.images.owner)
        except PatchRefused as refused:
            raise UserError(
                where, f"doesn't apply: {refused.detail}", "expected a diff against base_commit"
            ) from refused
        except Refused as refused:
            raise UserError(where, f"makes no acceptable tree: {refused.reason.value}", refused.detail) from refused


def _date(value: Any) -> datetime.date | None:
    match value:
        case datetime.datetime():
            return value.date()
        case datetime.date():
            return value
        case str():
            try:
                return datetime.date.fromisoformat(value[:10])
            except ValueError:
                return None
        case bool():
            return None
        case int():  # SWE-bench-Live writes milliseconds
            seconds = value / 1000 if value > 10**11 else value
            return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date() if 0 < seconds < 10**11 else None
        case _:
            return None


def reference_notes(before: Tree, reference: Tree | None) -> tuple[Note, ...]:
    """Whether our own policy would refuse the known-good fix."""
    if reference is None:
        return (Note("reference", "no known-good fix came with it; the solver `reference` can't run"),)
    policy = examine(before, reference, settings_matter=True)
    if policy.rejection is None:
        return ()
    return (
        Note("reference_refused", f"grading refuses the known-good fix: {policy.rejection.value}, {policy.detail}"),
    )

"""The user's cache of releases: what release tasks start from, and the hunks of their fixes, both by digest.

::

    sources/<sha256>.tar.gz     starting releases, as their projects published them
    fixes/<sha256>.json         the hunks of one fix, by the digest of what names them

A later release is held in memory while its hunks are cut out; neither it nor a file of it is kept anywhere. What is
read back is checked against the task's file, so that the cache need not be trusted.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.digest import digest, sha256_bytes
from harness.errors import InfraError, UserError
from harness.files import atomic_write, storage_error
from harness.records import to_value
from harness.releases.download import download
from harness.releases.sdist import read_sdist
from harness.suites.formats.source import MAX_CHANGED_LINES, FixSpec, SourceSpec
from harness.suites.hunks import Hunk, apply, cut
from harness.suites.parse import FileModel, parse_json
from harness.suites.tree import REGULAR, Entry, Tree

Fetch = Callable[[str, str, str, Path], bytes]
"""Gives a release's archive by project, version and digest, in an empty folder to work in."""

REMEDY = "run `trialbox images build`"


def user_cache() -> Path:
    """The user's own cache folder for releases."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trialbox" / "releases"


class _Fix(FileModel):
    hunks: tuple[Hunk, ...]


def _silent(_: str) -> None:
    pass


@dataclass(frozen=True)
class Releases:
    """Trees of releases, from the cache under ``root``.

    Without ``fetch`` nothing is ever downloaded, and what is missing is an error with its remedy.
    """

    root: Path = field(default_factory=user_cache)
    fetch: Fetch | None = None
    report: Callable[[str], None] = _silent

    @classmethod
    def fetching(cls, report: Callable[[str], None]) -> Releases:
        """The user's cache, which downloads what is missing with pip and says so to *report*."""
        return cls(fetch=download, report=report)

    def before(self, source: SourceSpec, where: str) -> Tree:
        """The starting tree. *where* is the task's file.

        Raises:
            UserError: not in the cache and not to be fetched; refused; or not the tree that the task names.
            InfraError: it can't be fetched, or the cache can't be used.
        """
        release = self._source(source, where)
        tree = Tree(entry for path, entry in release.items() if source.wants(path))
        if tree.digest != source.tree:
            raise UserError(f"{where}: source.tree", f"the release gives {tree.digest}", "correct it, or the paths")
        return tree

    def reference(self, source: SourceSpec, fix: FixSpec, before: Tree, where: str) -> Tree:
        """The starting tree with the fix's hunks applied. Raises as :meth:`before`."""
        hunks = self._hunks(source, fix, before, where)
        lines = sum(hunk.changed_lines for hunk in hunks)
        if lines > MAX_CHANGED_LINES:
            raise UserError(
                f"{where}: fix.hunks", f"{lines} lines change, at most {MAX_CHANGED_LINES} may", "take less"
            )
        try:
            tree = apply(before, hunks)
        except ValueError as error:
            raise UserError(f"{where}: fix.hunks", str(error), "correct the list") from error
        if tree.digest != fix.tree:
            raise UserError(f"{where}: fix.tree", f"the hunks give {tree.digest}", "correct it, or the hunks")
        return tree

    def kept(self, source: SourceSpec, fix: FixSpec) -> Tree:
        """What is cached of one task: a copy of these files elsewhere stands in for the cache.

        Raises:
            StorageError: the cache can't be read.
        """
        found = {path: _read(path) for path in (self._source_path(source), self._fix_path(source, fix))}
        return Tree(
            Entry(path.relative_to(self.root).as_posix(), REGULAR, data)
            for path, data in found.items()
            if data is not None
        )

    def _source_path(self, source: SourceSpec) -> Path:
        return self.root / "sources" / f"{source.sha256.removeprefix('sha256:')}.tar.gz"

    def _fix_path(self, source: SourceSpec, fix: FixSpec) -> Path:
        key = digest([source.tree, to_value(fix)])
        return self.root / "fixes" / f"{key.removeprefix('sha256:')}.json"

    def _source(self, source: SourceSpec, where: str) -> Tree:
        name = f"{source.project} {source.version}"
        path = self._source_path(source)
        data = _read(path)
        if data is None or sha256_bytes(data) != source.sha256:
            data = self._download(source.project, source.version, source.sha256, f"{where}: source")
            atomic_write(path, data)
        return read_sdist(data, f"{where}: source: release {name}")

    def _hunks(self, source: SourceSpec, fix: FixSpec, before: Tree, where: str) -> tuple[Hunk, ...]:
        path = self._fix_path(source, fix)
        data = _read(path)
        kept = _parsed(data, path)
        if [(hunk.file, hunk.sha256) for hunk in kept] == [(one.file, one.sha256) for one in fix.hunks]:
            return kept
        archive = self._download(source.project, fix.version, fix.sha256, f"{where}: fix")
        later = read_sdist(archive, f"{where}: fix: release {source.project} {fix.version}")
        hunks = tuple(_chosen(fix, before, later, where))
        atomic_write(path, json.dumps({"hunks": [to_value(hunk) for hunk in hunks]}).encode(), mode=0o600)
        return hunks

    def _download(self, project: str, version: str, sha256: str, where: str) -> bytes:
        if self.fetch is None:
            raise UserError(where, f"release {project} {version} is not in the cache", REMEDY)
        self.report(f"fetching release {project} {version}")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.root, prefix=".fetch-") as scratch:
                data = self.fetch(project, version, sha256, Path(scratch))
        except OSError as error:
            raise storage_error(self.root, error) from error
        if sha256_bytes(data) != sha256:
            raise InfraError(where, "another archive was fetched than the one named", "check pip's index settings")
        return data


def _chosen(fix: FixSpec, before: Tree, later: Tree, where: str) -> list[Hunk]:
    """The hunks that *fix* names, in its order."""
    chosen: list[Hunk] = []
    for index, spec in enumerate(fix.hunks):
        place = f"{where}: fix.hunks[{index}]"
        try:
            found = list(cut(before, later, spec.file))
        except ValueError as error:
            raise UserError(f"{place}.file", str(error), "correct it") from error
        match = next((hunk for hunk in found if hunk.sha256 == spec.sha256), None)
        if match is None:
            known = ", ".join(f"line {hunk.start + 1} {hunk.sha256}" for hunk in found)
            raise UserError(f"{place}.sha256", f"{spec.file} has no such hunk", f"it has {known or 'none'}")
        chosen.append(match)
    return chosen


def _parsed(data: bytes | None, path: Path) -> tuple[Hunk, ...]:
    """Hunks as they were kept; none where the file is missing or damaged, which then counts as missing too."""
    try:
        return parse_json(_Fix, data, str(path)).hunks if data is not None else ()
    except UserError:
        return ()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise storage_error(path, error) from error

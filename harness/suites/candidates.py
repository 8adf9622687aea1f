"""The solutions that come with a task: folders laid over ``before/``, or replies as a worker would write them."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UserError
from harness.extract import DIFF_WORDS, MAX_REPLY_BYTES, PYTHON_WORDS, last_block
from harness.releases import Releases
from harness.suites.edits import EditedTree, difference, edited
from harness.suites.formats.common import CandidateKind, CandidateSpec, WrongSpec
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.patch import PatchTask
from harness.suites.formats.reply import REPLY
from harness.suites.formats.repo import RepoTask
from harness.suites.models import TaskSpec
from harness.suites.parse import read_bytes
from harness.suites.task import Candidate
from harness.suites.tree import REGULAR, Entry, Tree, read_tree


def read_candidates(
    folder: Path, spec: TaskSpec, before: Tree, releases: Releases
) -> tuple[Candidate, tuple[Candidate, ...]]:
    """The reference, and the candidates that are not right.

    Raises:
        UserError: the first that is wrong, with its file.
        InfraError: a release can't be fetched.
    """
    wrong = [(folder / "wrong" / one.name, one) for one in spec.wrong]
    match spec:
        case FunctionTask() | PatchTask():
            return (
                _replied(folder / "reference", spec, before, None),
                tuple(_replied(place, spec, before, one) for place, one in wrong),
            )
        case ForeignTask() if not spec.has_reference:
            return Candidate("reference", "", None, Tree(), (), before), ()
        case _:
            reference = _reference(folder, spec, before, releases)
            return reference, tuple(_wrong(place, one, before, reference) for place, one in wrong)


def _reference(folder: Path, spec: TaskSpec, before: Tree, releases: Releases) -> Candidate:
    """The folder ``reference/``, or the hunks of a fix."""
    if not isinstance(spec, RepoTask) or spec.source is None or spec.fix is None:
        delete = () if isinstance(spec, FunctionTask | PatchTask) else spec.reference.delete
        return laid_over(folder / "reference", before, "", None, delete)
    where = str(folder / "task.toml")
    return _made(where, "reference", before, releases.reference(spec.source, spec.fix, before, where))


def _wrong(place: Path, one: CandidateSpec, before: Tree, reference: Candidate) -> Candidate:
    """The folder *place*, or edits."""
    if not isinstance(one, WrongSpec) or not one.edit:
        delete = one.delete if isinstance(one, WrongSpec) else ()
        return laid_over(place, before, one.why, one.kind, delete)
    if place.exists():
        raise UserError(str(place), "is a folder of a candidate that is made by edits", "remove one of the two")
    where = f"{place.parent.parent / 'task.toml'}: wrong {one.name!r}"
    start = reference.tree if one.on is EditedTree.REFERENCE else before
    assert start is not None
    try:
        return _made(where, one.name, before, edited(start, one.edit), one.why, one.kind)
    except ValueError as error:
        raise UserError(f"{where}: edit", str(error), "correct it") from error


def _made(
    where: str, name: str, before: Tree, tree: Tree, why: str = "", kind: CandidateKind | None = None
) -> Candidate:
    """A candidate known by its whole tree."""
    if tree == before:
        raise UserError(where, "leaves the starting tree as it is", "change something")
    overlay, delete = difference(before, tree)
    return Candidate(name, why, kind, overlay, delete, tree)


def laid_over(place: Path, before: Tree, why: str, kind: CandidateKind | None, delete: tuple[str, ...]) -> Candidate:
    """*before* less *delete* with the folder *place* over it; the folder may be absent if something is deleted.

    Raises:
        UserError: the folder does not fit over *before*, or changes nothing.
    """
    overlay = Tree() if delete and not place.exists() else read_tree(place)
    try:
        tree = before.without(delete).overlay(overlay)
    except ValueError as error:
        raise UserError(str(place), f"can't be laid over before/: {error}", "correct it or its delete list") from error
    if tree == before:
        raise UserError(str(place), "leaves before/ as it is", "put the changed files there")
    return Candidate(place.name, why, kind, overlay, delete, tree)


def _replied(place: Path, spec: FunctionTask | PatchTask, before: Tree, one: CandidateSpec | None) -> Candidate:
    """A reply. That of a patch task has no tree yet: its diff is applied in a container."""
    where = str(place / REPLY)
    reply = _reply(place, spec.limits.output_kb << 10)
    words = PYTHON_WORDS if isinstance(spec, FunctionTask) else DIFF_WORDS
    block = last_block(reply, words)
    if block is None:
        kinds = " or ".join(word or "no word" for word in sorted(words, reverse=True))
        raise UserError(where, f"holds no fenced block marked {kinds}", "answer there as a worker would")
    overlay, tree = Tree(), None
    if isinstance(spec, FunctionTask):
        overlay = Tree([Entry(spec.target, REGULAR, block)])
        try:
            tree = before.overlay(overlay)
        except ValueError as error:
            raise UserError(where, f"its block can't be {spec.target}: {error}", "correct target") from error
        if tree == before:
            raise UserError(where, f"leaves {spec.target} as it is", "put the changed module there")
    why, kind = (one.why, one.kind) if one else ("", None)
    return Candidate(place.name, why, kind, overlay, (), tree, reply.decode())


def _reply(place: Path, limit: int) -> bytes:
    """The folder's one file.

    Raises:
        UserError: it is missing, something lies beside it, or it is no text that a solver could print.
    """
    where = place / REPLY
    extra = sorted(path for path in read_tree(place) if path != REPLY)
    if extra:
        raise UserError(str(place / extra[0]), f"is no part of a reply, which is {REPLY} alone", "remove it")
    data = read_bytes(where)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UserError(str(where), "is not UTF-8 text", "save it as UTF-8") from error
    if len(data) > min(limit, MAX_REPLY_BYTES):
        raise UserError(str(where), f"is longer than the {limit >> 10} KiB of limits.output_kb", "shorten it")
    return data

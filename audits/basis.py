"""What a task gives an audit to look for, as a record: kept beside a run's evidence, so that the audit needs no suite.

It is hidden material: who has it can recognise a task's canaries. It holds hashes of tokens, not the reference itself.
"""

from __future__ import annotations

import io
import tarfile

from audits.needles import digits_of
from audits.overlap import Runs, line_key, names_in, runs_of
from harness.digest import Digest
from harness.errors import VerifyError
from harness.records import Record, TaskRef
from harness.store import Store
from harness.suites.task import Task
from harness.suites.tree import LINK, Tree

BASIS_TYPE = "application/vnd.trialbox.audit-basis+json"
_MAX_FILE = 1 << 20


class TaskBasis(Record):
    """One task: where its tree lies, its canaries' own digits, its dates (ISO days), and its reference in hashes.

    ``known`` are lines of the issue and of nothing else; lines of the starting tree are taken from the seed.
    """

    schema_version: int = 1
    task: TaskRef
    workspace: str
    public: str = ""
    exposure: str = ""
    project: str | None = None
    created: str | None = None
    first_public: str | None = None
    """The earliest day on which any of it was public; None if nobody says."""
    merged: str | None = None
    reference: Runs = ()
    rare: tuple[int, ...] = ()
    known: tuple[int, ...] = ()

    @property
    def earliest(self) -> str | None:
        """The day before which nobody can have seen it: of a task written for its suite, that of its writing."""
        return self.first_public or (self.created if self.project is None else None)

    @property
    def score_hash(self) -> Digest:
        """What it is the basis of."""
        return self.task.score_hash


def basis_of(task: Task, ref: TaskRef) -> TaskBasis:
    """The basis of a loaded task."""
    canary = task.spec.canary
    provenance = getattr(task.spec, "provenance", None)
    upstream = getattr(provenance, "upstream", None)
    dates = [getattr(provenance, "published", None), getattr(upstream, "first_public", None)]
    public = min((one for one in dates if one is not None), default=None)
    merged = getattr(upstream, "merged", None) or getattr(upstream, "fix_date", None)
    known = lines_of(task.before) | frozenset(map(line_key, task.prompt.splitlines()))
    text = _reference(task)
    shown = names_in(task.prompt).union(*(names_in(_text(one.data)) for one in task.before.values()))
    return TaskBasis(
        task=ref,
        workspace=task.workspace,
        public=digits_of(canary.public or "") if canary else "",
        exposure=digits_of(canary.exposure or "") if canary else "",
        project=getattr(upstream, "project", None),
        created=_day(getattr(provenance, "created", None)),
        first_public=_day(public),
        merged=_day(merged),
        reference=runs_of(text, known),
        rare=tuple(sorted(names_in(text) - shown)),
        known=tuple(sorted(frozenset(map(line_key, task.prompt.splitlines())))),
    )


def lines_of(tree: Tree) -> frozenset[int]:
    """The lines of a tree's text files, hashed."""
    return frozenset(
        line_key(line)
        for entry in tree.values()
        if entry.mode != LINK and len(entry.data) <= _MAX_FILE
        for line in _text(entry.data).splitlines()
    )


def lines_of_archive(store: Store, digest: str) -> frozenset[int]:
    """The lines of a seed's files, its git store apart; none where it is missing or damaged."""
    found: set[int] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(store.get(digest)), mode="r:") as tar:
            for member in tar:
                if not member.isreg() or member.size > 1 << 20 or "/.git/" in f"/{member.name}":
                    continue
                file = tar.extractfile(member)
                if file is not None:
                    found.update(map(line_key, file.read().decode("utf-8", "replace").splitlines()))
    except (VerifyError, tarfile.TarError):
        return frozenset()
    return frozenset(found)


def _reference(task: Task) -> str:
    """The text of the files that the reference adds or changes; of a patch task the lines that its diff adds."""
    tree = task.reference.tree
    if tree is None:
        reply = task.reference.reply or ""
        return "\n".join(one[1:] for one in reply.splitlines() if one.startswith("+") and not one.startswith("+++"))
    changed = [path for path in tree if task.before.get(path) != tree[path]]
    return "\n".join(_text(tree[path].data) for path in changed if tree[path].mode != LINK)


def _text(data: bytes) -> str:
    return data[:_MAX_FILE].decode("utf-8", "replace")


def _day(value: object) -> str | None:
    return None if value is None else str(value)

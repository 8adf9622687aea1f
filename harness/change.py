"""The change an attempt made: a manifest against the harness's own base, and one fixed rendering of it.

Git is not asked: whatever the candidate did to its store (own commits, replace refs, assume-unchanged flags, filters)
changes nothing here, and nothing of it runs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from harness.evidence import Change, ChangeKind, ChangeManifest
from harness.outcomes import Rejection
from harness.store import Store
from harness.suites.tree import LINK, Entry, Tree
from harness.untrusted import Refused, refuse_escaping_link

MANIFEST_TYPE = "application/vnd.trialbox.manifest+json"
PATCH_TYPE = "text/x-diff"
FILE_TYPE = "application/octet-stream"

_MAX_DIFF_LINES = 1000
"""Beyond this many differing lines a file is shown as one block: line matching is quadratic in a hostile file."""

_MAX_SHOWN = 4 << 20
"""Bytes of files, before and after, that are shown in all; the manifest speaks for every one."""
MAX_CHANGED = 5000
"""Files that a change may add or modify: each is kept, which takes most of a millisecond."""


def compare(base: Tree, after: Tree, store: Store) -> ChangeManifest:
    """What differs, sorted by path bytes, with the new contents kept in the store.

    Raises:
        Refused: a changed link would leave the tree, or there are too many files.
    """
    kept = sum(base.get(path) != entry for path, entry in after.items())
    if kept > MAX_CHANGED:
        raise Refused(Rejection.TOO_MANY_FILES, f"{kept} added or modified, limit {MAX_CHANGED}")
    changes = []
    for path in sorted(base.keys() | after.keys(), key=str.encode):
        old, new = base.get(path), after.get(path)
        if old == new:
            continue
        if new is None:
            changes.append(Change(path=path, kind=ChangeKind.DELETED, mode=None, content=None))
            continue
        if new.mode == LINK:
            refuse_escaping_link(path, new.data)
        kind = ChangeKind.ADDED if old is None else ChangeKind.MODIFIED
        changes.append(Change(path=path, kind=kind, mode=new.mode, content=store.put(new.data, FILE_TYPE)))
    return ChangeManifest(base=base.digest, changes=tuple(changes))


def apply(base: Tree, manifest: ChangeManifest, store: Store) -> Tree:
    """The tree that the change makes of its base.

    Raises:
        VerifyError: a blob is missing or changed.
        ValueError: the manifest is against another base, or gives no tree.
    """
    if base.digest != manifest.base:
        raise ValueError("the change is against another base")
    entries = dict(base.items())
    for change in manifest.changes:
        if change.content is None or change.mode is None:
            del entries[change.path]
        else:
            entries[change.path] = Entry(change.path, change.mode, store.get(change.content.digest))
    return Tree(entries.values())


def render(base: Tree, after: Tree, manifest: ChangeManifest) -> bytes:
    """The change as a unified diff in git's dress, the same bytes for the same change.

    A file that is not UTF-8 text, or for which no room is left, is named with its digests instead of being shown.
    """
    parts: list[bytes] = []
    room = _MAX_SHOWN
    for change in manifest.changes:
        old, new = base.get(change.path), after.get(change.path)
        parts.append(_header(change, old, new))
        if (old.data if old else None) == (new.data if new else None):
            continue
        size = sum(len(one.data) for one in (old, new) if one)
        before, now = (_text(old), _text(new)) if size <= room else (None, None)
        if before is None or now is None:
            what = "Binary" if size <= room else "Large"
            parts.append(
                f"{what} files differ: {old.sha256 if old else 'none'} {new.sha256 if new else 'none'}\n".encode()
            )
        else:
            left = f"a/{change.path}" if old else "/dev/null"
            right = f"b/{change.path}" if new else "/dev/null"
            parts.extend(_hunks(before, now, left, right))
            room -= size
    return b"".join(parts)


def changed_lines(base: Tree, after: Tree, at_most: int) -> int:
    """Lines removed and added together, as the rendering would show them; a mode alone is none.

    A file that is not UTF-8 text counts with all its lines, before and after. Counting stops once there are more than
    *at_most*.
    """
    total = 0
    for path in sorted(base.keys() | after.keys()):
        if total > at_most:
            break
        old, new = base.get(path), after.get(path)
        before, now = _text(old), _text(new)
        if (old.data if old else None) == (new.data if new else None):
            continue
        if before is None or now is None:
            total += sum(one.data.count(b"\n") + 1 for one in (old, new) if one)
            continue
        body = list(_hunks(before, now, "", ""))[2:]
        total += sum(line.startswith((b"+", b"-")) for line in body)
    return total


def _header(change: Change, old: Entry | None, new: Entry | None) -> bytes:
    lines = [f"diff --git a/{change.path} b/{change.path}"]
    if old is None and new is not None:
        lines.append(f"new file mode {_git_mode(new)}")
    elif new is None and old is not None:
        lines.append(f"deleted file mode {_git_mode(old)}")
    elif old is not None and new is not None and old.mode != new.mode:
        lines += [f"old mode {_git_mode(old)}", f"new mode {_git_mode(new)}"]
    return ("\n".join(lines) + "\n").encode()


def _git_mode(entry: Entry) -> str:
    return "120000" if entry.mode == LINK else f"100{entry.mode:o}"


def _text(entry: Entry | None) -> list[str] | None:
    if entry is None:
        return []
    if b"\0" in entry.data:
        return None
    try:
        text = entry.data.decode()
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")  # only LF ends a line: a form feed or U+2028 inside one is content
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(before: list[str], now: list[str], left: str, right: str) -> Iterable[bytes]:
    head = next((n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    tail = 0
    while tail < min(len(before), len(now)) - head and before[-1 - tail] == now[-1 - tail]:
        tail += 1
    middle = max(len(before), len(now)) - head - tail
    if middle > _MAX_DIFF_LINES:
        lines = _one_block(before, now, left, right, head, tail)
    else:
        lines = list(difflib.unified_diff(before, now, left, right))
    for line in lines:
        yield line.encode() if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n".encode()


def _one_block(before: list[str], now: list[str], left: str, right: str, head: int, tail: int) -> list[str]:
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    return [
        f"--- {left}\n",
        f"+++ {right}\n",
        f"@@ -{_span(head, len(old))} +{_span(head, len(new))} @@\n",
        *("-" + line for line in old),
        *("+" + line for line in new),
    ]


def _span(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"

"""Deeds of git: history beyond the task's own, and upstream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audits import hosts
from audits.commands.deed import Aim, Deed
from audits.commands.files import read
from audits.records import Axis, Kind

_COMMIT = re.compile(r"^[0-9a-f]{7,40}(?:[~^:.].*)?$")
_BEYOND = re.compile(
    r"^(?:(?:refs/)?remotes?/|origin/|upstream/|FETCH_HEAD|refs/(?:pull|heads|tags|remotes)/|stash@|.*@\{\d)"
)
_HISTORY = {"--all", "--branches", "--remotes", "--reflog", "-g", "--walk-reflogs", "--glob", "--tags"}


def git(args: tuple[str, ...]) -> Iterator[Deed]:
    """What a call of git is after."""
    words = list(args)
    while words and words[0].startswith("-"):
        value = words[1] if words[0] == "-C" and len(words) > 1 else words[0].partition("=")[2]
        yield from read(value, Aim.CONTENT)
        words = words[2:] if words[0] in {"-C", "-c", "--git-dir", "--work-tree"} else words[1:]
    if not words:
        return
    verb, rest = words[0], words[1:]
    shown = f"git {verb} {' '.join(rest[:6])}".strip()
    flags = {one.partition("=")[0] for one in rest if one.startswith("-")}
    names = [one for one in rest if not one.startswith("-")]
    commits = tuple(re.split(r"[~^:.]", one)[0] for one in names if _COMMIT.match(one))
    beyond = [one for one in names if any(_BEYOND.match(end) for end in re.split(r"\.{2,3}", one))]
    if verb in {"diff", "apply", "am", "clone", "fetch", "pull"}:
        for one in names:
            yield from read(one, Aim.CONTENT)
    if verb in {"clone", "fetch", "pull", "ls-remote", "remote", "submodule"}:
        remote = next((url for one in names if (url := hosts.git_remote(one)) is not None), None)
        if verb == "remote" and remote is None and (not names or names[0] != "update"):
            return
        if remote is not None and hosts.is_local(remote.host):
            return
        kind = hosts.kind_of(remote.host) if remote else Kind.UPSTREAM_LOOKUP
        if kind is Kind.DENIED_HOST:
            kind = Kind.UPSTREAM_LOOKUP
        yield Deed(Axis.WEB, kind, Aim.LISTING if verb in {"ls-remote", "remote"} else Aim.CONTENT, shown)
        return
    match verb:
        case "log" | "rev-list" | "shortlog" | "whatchanged":
            if flags & _HISTORY or beyond:
                content = bool(flags & {"-p", "--patch", "-u"}) or any(one.startswith(("-S", "-G")) for one in rest)
                yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.CONTENT if content else Aim.LISTING, shown, commits)
        case "reflog" | "fsck" | "for-each-ref" | "show-ref" | "unpack-objects" | "verify-pack":
            yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.LISTING, shown)
        case "branch" | "tag":
            if flags & {"-a", "-r", "--all", "--remotes", "-l", "--list", "--contains"} or (
                verb == "tag" and not names
            ):
                yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.LISTING, shown)
        case (
            "show"
            | "diff"
            | "cat-file"
            | "checkout"
            | "cherry-pick"
            | "restore"
            | "switch"
            | "archive"
            | "grep"
            | "format-patch"
            | "range-diff"
            | "merge"
            | "rebase"
            | "reset"
        ):
            if verb == "cat-file" and flags & {"--batch-all-objects"}:
                yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.CONTENT, shown)
            elif beyond:
                yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.CONTENT, shown, commits)
            elif commits:
                yield Deed(Axis.FILESYSTEM, Kind.GIT_HISTORY, Aim.FLAG, shown, commits)
        case _:
            return

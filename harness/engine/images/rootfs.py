"""From a freshly installed Debian root to the entries of a layer: what the build or its host left is dropped."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from harness.engine.images.layer import Entry, Kind, folder, slice_of, text_file

AGENT_ID = 10001
"""The uid and gid of the user ``agent``, who has the same number in every image."""

PASSWORD_DAY = 20000
"""The day of the last password change in ``/etc/shadow``; Debian writes the day of the build."""

# Contents that go while the folder itself stays.
_EMPTIED = "boot|dev|proc|run|sys|tmp|var/tmp|var/log|var/cache|var/lib/apt/lists|usr/share/(?:man|info|locale|lintian)"

_DROPPED = re.compile(
    rf"(?:{_EMPTIED})/.+"
    # The host's, or the build's.
    r"|etc/(?:hostname|hosts|resolv\.conf|machine-id|mtab|\.pwd\.lock|[a-z]+-)"
    r"|etc/apt/(?:sources\.list|apt\.conf\.d/99mmdebstrap)|etc/dpkg/dpkg\.cfg\.d/99mmdebstrap"
    r"|var/lib/apt/extended_states|var/lib/dpkg/(?:lock|lock-frontend|[a-z]+-old|triggers/Lock)"
    # Never read by a program; the licences stay.
    r"|usr/share/doc/[^/]+/(?:.+/)?(?!copyright$)[^/]+|usr/share/bash-completion/.+"
)

_GITCONFIG = """\
[user]
\tname = agent
\temail = agent@localhost
[init]
\tdefaultBranch = main
[safe]
\tdirectory = *
"""

_ACCOUNTS = {
    "etc/passwd": f"agent:x:{AGENT_ID}:{AGENT_ID}::/home/agent:/bin/bash\n",
    "etc/group": f"agent:x:{AGENT_ID}:\n",
    "etc/shadow": f"agent:!:{PASSWORD_DAY}:0:99999:7:::\n",
    "etc/gshadow": "agent:!::\n",
}


def entries(tar_path: Path, epoch: int) -> Iterator[Entry]:
    """The layer's entries; the tar must stay in place until they have been written.

    Set-user and set-group bits are cleared: nothing in a sandbox may gain rights.
    """
    with tarfile.open(tar_path) as tar:
        yield from _kept(tar, tar_path, epoch)
        yield text_file("etc/gitconfig", _GITCONFIG, epoch)
        yield folder("home/agent", epoch, uid=AGENT_ID, gid=AGENT_ID)
        yield folder("workspace", epoch, uid=AGENT_ID, gid=AGENT_ID)
        yield folder("grade", epoch, uid=AGENT_ID, gid=AGENT_ID)


def added(root: Iterable[Entry], below: IO[bytes]) -> list[Entry]:
    """What a layer on top of the layer *below* holds, for the two to give *root*.

    The folders that lead to a change are part of it, as engines would make them anew with other rights; a file that is
    gone is covered up.
    """
    entries = {entry.name: entry for entry in root}
    with tarfile.open(fileobj=below) as tar:
        lower = {member.name: member for member in tar}
        changed = {name for name, entry in entries.items() if not _same(entry, lower.get(name), tar)}
    gone = sorted(lower.keys() - entries.keys())
    holders = {entry.target if entry.kind is Kind.HARDLINK else entry.name for entry in _of(entries, changed)}
    changed |= {
        e.name for e in entries.values() if e.name in holders or (e.kind is Kind.HARDLINK and e.target in holders)
    }
    changed |= {name for leaf in (*changed, *gone) for name in _parents(leaf)} & entries.keys()
    covers = [f"{name.rpartition('/')[0]}/.wh.{name.rpartition('/')[2]}".lstrip("/") for name in gone]
    return [*_of(entries, changed), *(Entry(name, Kind.FILE, 0o644) for name in covers)]


def _of(entries: dict[str, Entry], names: Iterable[str]) -> list[Entry]:
    return [entries[name] for name in names]


def _parents(name: str) -> Iterator[str]:
    while name := name.rpartition("/")[0]:
        yield name


def _same(entry: Entry, lower: tarfile.TarInfo | None, tar: tarfile.TarFile) -> bool:
    if lower is None or lower.type != entry.kind.value.encode():
        return False
    theirs = (lower.mode, lower.uid, lower.gid, lower.linkname)
    if theirs != (entry.mode, entry.uid, entry.gid, entry.target) or (lower.isreg() and lower.size != entry.size):
        return False
    handle = tar.extractfile(lower) if lower.isreg() else None
    return handle is None or handle.read() == entry.read()


def _kept(tar: tarfile.TarFile, tar_path: Path, epoch: int) -> Iterator[Entry]:
    members = {_clean(member.name): member for member in tar if _wanted(member)}
    first: dict[str, str] = {}  # the file behind hard links -> the first of its names, which carries the bytes
    for name in sorted(members):
        member = members[name]
        mode = member.mode & 0o1777
        mtime = epoch
        if member.isdir():
            yield Entry(name, Kind.FOLDER, mode, member.uid, member.gid, mtime)
        elif member.issym():
            yield Entry(name, Kind.SYMLINK, 0o777, member.uid, member.gid, mtime, member.linkname)
        else:
            file = _clean(member.linkname) if member.islnk() else name
            holder = first.setdefault(file, name)
            if holder != name:
                yield Entry(name, Kind.HARDLINK, mode, member.uid, member.gid, mtime, holder)
                continue
            real = tar.getmember(member.linkname) if member.islnk() else member
            size, read = real.size, partial(slice_of, tar_path, real.offset_data, real.size)
            if name in _ACCOUNTS:
                yield text_file(name, _accounts(name, read().decode()), epoch, mode, member.gid)
                continue
            yield Entry(name, Kind.FILE, mode, member.uid, member.gid, mtime, size=size, read=read)


def _clean(name: str) -> str:
    return name.removeprefix("./").strip("/")


def _wanted(member: tarfile.TarInfo) -> bool:
    name = _clean(member.name)
    kept_kind = member.isdir() or member.issym() or member.islnk() or member.isreg()
    return kept_kind and name not in {"", "."} and _DROPPED.fullmatch(name) is None


def _accounts(name: str, text: str) -> str:
    """An account file with ``agent`` added and the day of the build taken out."""
    if name == "etc/shadow":
        text = re.sub(r"(?m)^([^:]*:[^:]*):\d+:", rf"\g<1>:{PASSWORD_DAY}:", text)
    return text + _ACCOUNTS[name]

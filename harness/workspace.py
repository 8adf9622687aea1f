"""A solver's workspace and HOME: capped volumes held by a keeper, so that they outlive the solver.

A tmpfs volume is emptied the moment its last container stops, and an empty folder looks like "everything deleted". The
keeper is started first, runs nothing of the candidate's, and is the only way in (seed) and out (tree). Its life is the
proof: while it runs, the volume is the one that was seeded.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from types import TracebackType
from typing import IO

from harness.engine.client import Engine
from harness.engine.exec import Stop
from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import AGENT_UID, AGENT_USER, ROOT_USER, Role, SandboxSpec, VolumeMount
from harness.errors import InfraError
from harness.outcomes import Rejection
from harness.records import Limits
from harness.suites.tree import EXECUTABLE, LINK, Tree
from harness.untrusted import MAX_DEPTH, CapturedTree, Refused, parse_listing, read_archive, refuse_listing

WORKSPACE = "/workspace"
HOME = "/home/agent"
PROMPT_FILE = f"{HOME}/prompt.md"

# In the keeper's own /tmp, which is lost with the volumes' content when it stops: a keeper that was started again by
# whatever means is known by this, and its empty volumes are not taken for a tree.
_SEEDED = "/tmp/seeded"  # noqa: S108 - inside the keeper
# The listing comes first and from another program than the archive, so that a tree cut short by either is noticed.
# GNU tar streams trees that the engine's own archive call silently truncates (at depth 2,046); a tree that will be
# refused for its depth is not streamed, since its names alone are hundreds of megabytes.
_LIST_AND_STREAM = (
    f"[ -e {_SEEDED} ] || exit 7; "
    r'find . -xdev -mindepth 1 -path ./.git -prune -o -printf "%y%d\n" >&2 || exit 9; '
    f'[ -z "$(find . -xdev -mindepth {MAX_DEPTH + 1} -path ./.git -prune -o -printf x -quit)" ] || exit 8; '
    "exec tar --create --format=gnu --numeric-owner --one-file-system --anchored --exclude=./.git --file=- ."
)
_UNPACK = (
    f": > {_SEEDED} && "
    "tar --extract --file=- --no-same-owner --preserve-permissions && "
    f'find {WORKSPACE} {HOME} -xdev -mindepth 1 -printf "%y%d\\n"'
)
_SPARE_ENTRIES = 4096
_STREAM_PER_ENTRY = 8192


def volumes(limits: Limits) -> tuple[VolumeMount, VolumeMount]:
    """The workspace's and HOME's volumes, under fresh opaque names."""
    return (
        VolumeMount(
            volume=opaque_name(), target=WORKSPACE, size_mb=limits.workspace_mb, inodes=limits.workspace_inodes
        ),
        VolumeMount(volume=opaque_name(), target=HOME, size_mb=limits.home_mb, inodes=limits.home_inodes, mode="0700"),
    )


def pack(tree: Tree, *, prefix: str = "", uid: int = AGENT_UID) -> bytes:
    """A deterministic tar of a tree: sorted, one owner, no times; folders come before what they hold.

    *prefix* is put before every name; the folders it names are taken to be there.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        made: set[str] = set()
        for path, entry in tree.items():
            name = prefix + path
            missing = []
            folder = path.rpartition("/")[0]
            while folder and folder not in made:
                missing.append(folder)
                folder = folder.rpartition("/")[0]
            made.update(missing)
            for folder in reversed(missing):
                tar.addfile(_member(prefix + folder, tarfile.DIRTYPE, EXECUTABLE, uid))
            if entry.mode == LINK:
                link = _member(name, tarfile.SYMTYPE, 0o777, uid)
                link.linkname = entry.data.decode("utf-8", "surrogateescape")
                tar.addfile(link)
            else:
                member = _member(name, tarfile.REGTYPE, entry.mode, uid)
                member.size = len(entry.data)
                tar.addfile(member, io.BytesIO(entry.data))
    return buffer.getvalue()


def _member(name: str, kind: bytes, mode: int, uid: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.uid, info.gid = kind, mode, uid, uid
    return info


def join_archives(first: bytes, second: bytes) -> bytes:
    """One tar of two: the first without its end mark, then the second."""
    with tarfile.open(fileobj=io.BytesIO(first), mode="r:") as tar:
        for _ in tar:
            pass
        return first[: tar.offset] + second


def count_entries(archive: bytes) -> int:
    """Entries of a harness-made tar below the workspace and HOME: what a listing of both must count."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
        return sum(1 for member in tar if f"/{member.name}".rstrip("/") not in {WORKSPACE, HOME})


class Workspace:
    """The two volumes and their keeper, until ``close``.

    Args:
        engine: where they live.
        image: the engine's handle of our own base image; a task's image never runs the keeper.
        limits: sizes and inode counts.
        owner: the state folder's digest, for the label.
        tmp_mb: the keeper's own scratch space.
    """

    def __init__(self, engine: Engine, image: str, limits: Limits, owner: str, *, tmp_mb: int = 1) -> None:
        self.limits = limits
        self.mounts = volumes(limits)
        self._volumes = Volumes(engine, owner, self.mounts)
        # The volumes' pages are charged to whoever writes them, and the seed is written from here.
        inodes = limits.workspace_inodes + limits.home_inodes
        memory = 127 + tmp_mb + limits.workspace_mb + limits.home_mb + inodes // 1024
        try:
            self.keeper = Sandbox(
                engine,
                SandboxSpec(
                    role=Role.KEEPER,
                    image=image,
                    user=ROOT_USER,
                    volumes=self.mounts,
                    memory_mb=memory,
                    pids=32,
                    cap_add=("DAC_READ_SEARCH",),
                    tmp_mb=tmp_mb,
                ),
                owner,
            )
        except BaseException:
            self._volumes.remove()
            raise

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the keeper and the volumes with all they hold."""
        self.keeper.destroy()
        self._volumes.remove()

    def mounts_at(self, folder: str) -> tuple[VolumeMount, ...]:
        """The mounts for another container than the keeper, which has the tree in *folder*."""
        return tuple(one.at(folder) if one.target == WORKSPACE and folder != WORKSPACE else one for one in self.mounts)

    def seed(self, archive: bytes) -> None:
        """Unpack a harness-made tar, with names from the root, as the agent's user; prove that all of it arrived.

        Raises:
            InfraError: it did not fit or did not arrive.
        """
        result = self.keeper.run(
            ("sh", "-c", _UNPACK), stdin=archive, timeout_s=120, max_output=64 << 20, user=AGENT_USER, workdir="/"
        )
        entries = count_entries(archive)
        arrived = parse_listing(result.stdout).entries
        if result.exit_status != 0 or arrived != entries:
            problem = result.stderr.decode("utf-8", "replace").strip().splitlines()
            raise InfraError(
                "seed",
                f"{arrived} of {entries} entries arrived in the workspace"
                + (f" ({problem[-1][:120]})" if problem else ""),
                "raise workspace_mb or workspace_inodes in the task's limits",
            )

    def read(self) -> CapturedTree:
        """The workspace's tree, less its git store. The solver's container must be gone.

        Raises:
            Refused: the tree is not acceptable, for a named reason.
            InfraError: the tree could not be read whole; it is never taken for one with files deleted.
        """
        max_bytes = self.limits.workspace_mb << 20
        max_stream = max_bytes + (self.limits.workspace_inodes + _SPARE_ENTRIES) * _STREAM_PER_ENTRY
        with tempfile.TemporaryFile() as spool:
            sink = _Spool(spool, max_stream)
            result = self.keeper.run(
                ("sh", "-c", _LIST_AND_STREAM),
                timeout_s=300,
                max_output=(self.limits.workspace_inodes + _SPARE_ENTRIES) * 16,
                workdir=WORKSPACE,
                consume=sink,
            )
            listing = parse_listing(result.stderr)
            refuse_listing(listing, max_entries=self.limits.workspace_inodes)
            if sink.full:
                raise Refused(Rejection.TREE_TOO_LARGE, f"its stream is over {max_stream} bytes")
            if result.exit_status != 0 or result.timed_out or result.cut:
                raise InfraError(
                    "capture", f"the tree could not be read whole (status {result.exit_status})", "run it again"
                )
            spool.seek(0)
            return read_archive(spool, listing, max_bytes=max_bytes)


class _Spool:
    """Takes the stream to disk, up to a limit."""

    def __init__(self, spool: IO[bytes], limit: int) -> None:
        self._spool = spool
        self._left = limit
        self.full = False

    def __call__(self, chunk: bytes) -> None:
        self._left -= len(chunk)
        if self._left < 0:
            self.full = True
            raise Stop
        self._spool.write(chunk)

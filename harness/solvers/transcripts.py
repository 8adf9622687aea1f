"""What an agent wrote down of its own work, read once its container is gone.

A transcript is the agent's word and nothing else: no figure of ours comes from it, and what it says of its own use is
shown as that. It is read out of HOME through the
keeper, so nothing runs in the agent's container, and no link is followed.
"""

from __future__ import annotations

from harness.errors import InfraError
from harness.evidence import SolveRecord
from harness.solvers.agent import STDOUT, TranscriptKind, TranscriptSpec
from harness.store import Store
from harness.trajectories.account import account
from harness.workspace import HOME, Workspace

MAX_BYTES = 64 << 20
"""A longer one is not kept."""

_MEDIA = "application/vnd.trialbox.transcript."
# The newest plain file that the pattern names; find follows no link.
_READ = f"""
cd "$1" || exit 9
file=$(find . -xdev -regextype posix-extended -type f -size -{MAX_BYTES + 1}c -regex "$2" -printf '%T@ %p\\n' |
    sort -n | tail -n 1)
[ -n "$file" ] || exit 8
exec cat -- "${{file#* }}"
"""
_ABSENT = 8


def media_type(kind: TranscriptKind) -> str:
    """The media type under which a transcript is stored: it says what can read it."""
    return _MEDIA + kind.value


def kind_of(media_type: str) -> TranscriptKind | None:
    """The form behind a media type; None for other bytes."""
    name = media_type.removeprefix(_MEDIA)
    return TranscriptKind(name) if media_type.startswith(_MEDIA) and name in set(TranscriptKind) else None


def read_transcript(spec: TranscriptSpec, workspace: Workspace, stdout: bytes) -> bytes | None:
    """The transcript; None if the agent left none, or one that is too large.

    Raises:
        InfraError: the keeper failed.
    """
    if spec.path == STDOUT:
        return stdout or None
    found = workspace.keeper.run(
        ("sh", "-c", _READ, "sh", HOME, _regex(spec.path)), timeout_s=60, max_output=MAX_BYTES, workdir="/"
    )
    if found.exit_status == _ABSENT:
        return None
    if found.exit_status != 0 or found.timed_out or found.cut:
        raise InfraError("transcript", f"could not be read (status {found.exit_status})", "run it again")
    return found.stdout


def _regex(pattern: str) -> str:
    """The pattern as find's regular expressions have it; ``*`` stays within a folder's name."""
    return "\\./" + "[^/]*".join(part.replace(".", "\\.") for part in pattern.split("*"))


def with_transcript(
    record: SolveRecord, spec: TranscriptSpec | None, workspace: Workspace, store: Store
) -> SolveRecord:
    """A solver's record with its transcript, if its manifest says where one is and it left one, and its own account.

    Raises as above.
    """
    if spec is None:
        return record
    stdout = store.get(record.stdout.digest)
    found = read_transcript(spec, workspace, stdout)
    own = {"self_reported": account(spec.kind, found or b"", stdout)}
    if found is None:
        return record.model_copy(update=own)
    return record.model_copy(update={**own, "transcript": store.put(found, media_type(spec.kind))})

"""A unified diff applied to a tree by git, strictly, in a sealed container that holds nothing but that tree.

Strict means: exact context, no fuzz, no three-way merge, no white space touched, all of it or nothing. The leading
folders ``a/`` and ``b/`` are stripped; paths without them are taken as they are, else with their first folder stripped.
The host parses none of it.
"""

from __future__ import annotations

from harness.engine.client import Engine
from harness.engine.spec import AGENT_USER
from harness.records import Limits
from harness.suites.tree import Tree
from harness.untrusted import clean_text
from harness.workspace import WORKSPACE, Workspace, pack

MAX_PATCH_BYTES = 64 << 20

# Outside a repository git applies to plain files; a store of the tree's own could hold filters, so there is none.
# Tried as they are, the paths of a diff that has leading folders would make files in a folder b/.
_APPLY = (
    "p=/tmp/change.patch; cat > $p; "
    "grep -qE '^(--- a/|[+][+][+] b/|diff --git a/)' $p && strip='1' || strip='0 1'; "
    "for n in $strip; do git apply --whitespace=nowarn -p$n $p 2>/tmp/said && exit 0; done; "
    "head -c 2000 /tmp/said >&2; exit 65"
)
_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent", "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": "/"}


class PatchRefused(Exception):
    """The patch does not apply. ``detail`` is one line of git's, made safe to show."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


def apply_patch(engine: Engine, base_image: str, tree: Tree, patch: bytes, limits: Limits, owner: str) -> Tree:
    """The tree that *patch* makes of *tree*.

    Args:
        engine: where git runs.
        base_image: the engine's handle of our own base image.
        tree: what it is applied to; trusted.
        patch: the diff; hostile.
        limits: the sizes that the tree must keep to.
        owner: the state folder's digest, for the label.

    Raises:
        PatchRefused: it does not apply, or is no diff.
        Refused: what it made is no acceptable tree.
        InfraError: the engine failed.
    """
    if len(patch) > MAX_PATCH_BYTES:
        raise PatchRefused(f"it has {len(patch)} bytes, limit {MAX_PATCH_BYTES}")
    roomy = limits.model_copy(update={"home_mb": 1, "home_inodes": 64})
    with Workspace(engine, base_image, roomy, owner, tmp_mb=2 * (len(patch) >> 20) + 2) as workspace:
        workspace.seed(pack(tree, prefix=WORKSPACE.lstrip("/") + "/"))
        made = workspace.keeper.run(
            ("sh", "-c", _APPLY),
            stdin=patch if patch.endswith(b"\n") else patch + b"\n",
            timeout_s=120,
            max_output=1 << 16,
            user=AGENT_USER,
            workdir=WORKSPACE,
            env=_ENV,
        )
        if made.exit_status != 0:
            lines = [line for line in made.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
            problem = next((line for line in lines if line.startswith("error:")), lines[0] if lines else "")
            raise PatchRefused(clean_text(problem.removeprefix("error: ") or "git would not apply it"))
        return workspace.read().tree

"""A task's starting tree as the solver gets it: the files of ``before/`` and one synthetic commit, nothing else.

The git store is made by our own base image's git from our own tree, with fixed identity and dates and without stat data
in its index, so that the same tree gives the same archive. There is no other object, ref, reflog or remote in it.
"""

from __future__ import annotations

from harness.digest import digest
from harness.engine.client import Engine
from harness.errors import InfraError
from harness.evidence import SeedRecord
from harness.ledger import CacheKind, Ledger
from harness.records import Limits
from harness.store import Store, is_whole
from harness.suites.tree import Tree
from harness.workspace import WORKSPACE, Workspace, pack

ARCHIVE_TYPE = "application/x-tar"
_DATE = "2000-01-01T00:00:00Z"
_ENV = {
    "GIT_AUTHOR_NAME": "origin",
    "GIT_AUTHOR_EMAIL": "origin@localhost",
    "GIT_COMMITTER_NAME": "origin",
    "GIT_COMMITTER_EMAIL": "origin@localhost",
    "GIT_AUTHOR_DATE": _DATE,
    "GIT_COMMITTER_DATE": _DATE,
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": "/nonexistent",
}
_PREFIX = WORKSPACE.lstrip("/") + "/"
_COMMIT = (
    "set -e; umask 022; git init -q --template= -b main .; git add -A -f .; "
    "git commit -q --allow-empty -m 'Initial state'; "
    "rm -rf .git/logs .git/COMMIT_EDITMSG .git/index; git read-tree HEAD; "
    "exec tar --create --format=gnu --sort=name --mtime=@946684800 --owner=10001 --group=10001 --numeric-owner "
    f"--directory=/ --file=- {WORKSPACE.lstrip('/')}"
)


def make_seed(
    engine: Engine,
    base_image: tuple[str, str],
    tree: Tree,
    limits: Limits,
    store: Store,
    cache: Ledger,
    owner: str,
) -> SeedRecord:
    """The seed of a tree, made once for each tree and base image.

    Args:
        engine: where git runs.
        base_image: our id and the engine's handle of the base image.
        tree: the starting tree, trusted.
        limits: the task's limits; the seed must fit in them.
        store: where the archive is kept.
        cache: remembers the archive by tree and image.
        owner: the state folder's digest, for the label.

    Raises:
        InfraError: git or the engine failed.
    """
    image_id, handle = base_image
    key = digest([tree.digest, image_id, _COMMIT, _DATE])
    known = cache.cached(CacheKind.SEED, key)
    if known is not None and is_whole(store, known.digest):
        return SeedRecord(archive=known, base=tree.digest)
    with Workspace(engine, handle, limits, owner) as workspace:
        workspace.seed(pack(tree, prefix=_PREFIX))
        made = workspace.keeper.run(
            ("sh", "-c", _COMMIT), timeout_s=120, max_output=512 << 20, user="10001:10001", workdir=WORKSPACE, env=_ENV
        )
    if made.exit_status != 0 or made.cut:
        message = made.stderr.decode("utf-8", "replace").strip()[-200:]
        raise InfraError("seed", f"the starting commit could not be made: {message}", "check the task's limits")
    archive = store.put(made.stdout, ARCHIVE_TYPE)
    cache.keep(CacheKind.SEED, key, archive)
    return SeedRecord(archive=archive, base=tree.digest)

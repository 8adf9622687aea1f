"""What the cache can do without of bundles: folders that no lock as it is now gives. Packages and wheels stay."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from harness.bundles import recipe
from harness.bundles.shelf import MadeBundle
from harness.engine.images.tidy import while_idle
from harness.errors import VerifyError
from harness.records import from_json


def tidy(cache: Path, images_dir: Path) -> tuple[int, int] | None:
    """Remove superseded bundles. Kept is what the locks as they are gave, and every bundle with drift.

    Returns:
        How many bundles and bytes went; None if something is being built, and nothing was touched.

    Raises:
        UserError: a recipe or lock can't be read.
        InfraError: the cache can't be written.
    """
    if not (cache / "bundles").is_dir():
        return 0, 0
    current = {recipe.load(images_dir, name).lock_digest for name in recipe.names(images_dir)}
    return while_idle(cache, lambda: _remove(cache / "bundles", current))


def _remove(root: Path, current: Collection[str]) -> tuple[int, int]:
    keep, notes = set(), []
    for path in (root / "made").glob("*.json"):
        try:
            made = from_json(MadeBundle, path.read_bytes())
        except VerifyError:
            continue
        if made.drift or made.lock in current:
            keep.add(made.digest.removeprefix("sha256:"))
        else:
            notes.append(path)
    for path in notes:  # first, so that none ever lacks its folder
        path.unlink()
    stale = [path for path in root.iterdir() if path.name != "made" and path.name not in keep]
    freed = 0
    for folder in stale:
        freed += sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        shutil.rmtree(folder)
    return len(stale), freed

"""Where things are: the shipped data, the state folder, the image cache, and which code this is."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from harness.errors import InfraError
from harness.releases import Releases
from harness.state import State, find_state
from scoring.stamp import HarnessInfo

CODE = Path(__file__).resolve().parent.parent


def data_folder(name: str) -> Path:
    """``tasks``, ``images`` or ``prices``: of the checkout, else of the installed package.

    Raises:
        InfraError: neither has it.
    """
    for folder in (CODE / name, CODE / "trialbox_data" / name):
        if folder.is_dir():
            return folder
    raise InfraError(str(CODE / name), "is missing", "install trialbox again")


def state() -> State:
    """The state folder of this process."""
    return find_state(os.environ, Path.cwd())


def image_cache() -> Path:
    """The user's image cache: shared by all state folders, since an image is the same for each."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trialbox" / "images"


def version_cache() -> Path:
    """Where kept versions of suites are laid out when they are asked for; like the images, the same for all."""
    return image_cache().parent / "suites"


def releases() -> Releases:
    """The user's cache of public releases, fetching what is missing; standard error hears of it."""
    return Releases.fetching(lambda text: print(text, file=sys.stderr))


def harness_info() -> HarnessInfo:
    """This code's version and, in a checkout that git can read, its commit and whether anything in it was changed."""
    try:
        number = version("trialbox")
    except PackageNotFoundError:
        number = "unknown"
    commit = _git("rev-parse", "HEAD") if (CODE / ".git").exists() else None
    if commit is None:
        return HarnessInfo(version=number, commit="unknown", dirty=None)
    changes = _git("status", "--porcelain")
    return HarnessInfo(version=number, commit=commit, dirty=None if changes is None else bool(changes))


def _git(*arguments: str) -> str | None:
    try:
        command = ["git", "-C", str(CODE), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

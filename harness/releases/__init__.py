"""Public releases of Python projects, by name, version and digest: fetched with the user's own pip, read as hostile."""

from harness.releases.cache import Releases, user_cache

__all__ = ["Releases", "user_cache"]

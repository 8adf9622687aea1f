"""Puts the stand-in in place of whatever build backend a project names, in its own archive or installed.

pip tells its helper process by environment variables which module to import and from which folder. This runs at the
start of that process, as ``sitecustomize``, and names another module and no folder. It must stand alone.
"""

import os

STAND_IN = "trialbox_stand_in"

for prefix in ("_PYPROJECT_HOOKS_", "PEP517_"):  # pip from 23.1 on, and before
    if prefix + "BUILD_BACKEND" in os.environ:
        os.environ[prefix + "BUILD_BACKEND"] = STAND_IN
    for place in ("BACKEND_PATH", "BACKEND_PATH_JSON"):
        os.environ.pop(prefix + place, None)

"""What lies in a folder now, as one JSON list of ``[path, mode in octal, owner, sha256]``; run by root."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys


def main() -> None:
    """Hash the folder named on standard input; what is no regular file is listed without a hash."""
    found = []
    top = sys.stdin.read()
    for folder, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)  # noqa: PTH118 - plain strings, as they are
            about = os.lstat(path)
            digest = ""
            if stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:  # noqa: PTH123
                    digest = hashlib.sha256(file.read()).hexdigest()
            found.append([os.path.relpath(path, top), f"{about.st_mode:o}", about.st_uid, digest])
    sys.stdout.write(json.dumps(sorted(found)))

"""A small image from the test machine's own programs: no registry, no build."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from harness.engine.client import LABEL, Engine

TINY = "trialbox-test-tiny:latest"


def load_tiny_image(engine: Engine, *, programs: tuple[str, ...] = ("sh", "sleep", "cat", "mkdir")) -> str:
    """Import an image that holds *programs* and the libraries they need; its name."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in sorted(_closure(programs)):
            tar.add(path.resolve(), arcname=str(path).lstrip("/"))
    engine.api.import_image_from_data(
        archive.getvalue(), repository=TINY.partition(":")[0], tag="latest", changes=[f"LABEL {LABEL}=1"]
    )
    return TINY


def _closure(programs: tuple[str, ...]) -> set[Path]:
    files: set[Path] = set()
    for name in programs:
        program = shutil.which(name)
        assert program is not None, name
        files.add(Path("/bin") / name)
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        files.update(Path(path) for path in re.findall(r"(/\S+) \(0x", listed))
    return files

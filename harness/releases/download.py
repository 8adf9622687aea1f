"""A source distribution by name, version and digest, through the ordinary pip and so the user's own settings."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from harness.digest import sha256_bytes
from harness.engine.images.wheels import pip_command
from harness.errors import InfraError
from harness.files import storage_error
from harness.releases.redirect import STAND_IN
from harness.untrusted import clean_text

TIMEOUT_S = 300
_HERE = Path(__file__).parent


def download(project: str, version: str, sha256: str, scratch: Path) -> bytes:
    """The archive. Nothing of it stays on the disk, nor in pip's own cache, and no code of it runs.

    Args:
        sha256: ``sha256:<hex>`` of the archive.
        scratch: an empty folder, left as it was.

    Raises:
        InfraError: pip is missing, can't get the release, or got another one.
    """
    where = f"release {project} {version}"
    try:
        listing, target, temporary = scratch / "requirements.txt", scratch / "release", scratch / "tmp"
        temporary.mkdir()
        listing.write_text(f"{project}=={version} --hash={sha256}\n")
        command = [*pip_command(scratch), "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        command += ["--no-cache-dir", "--no-deps", "--require-hashes", "--no-binary=:all:", "--no-build-isolation"]
        command += ["--dest", str(target), "--requirement", str(listing)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                env=_environment(scratch),
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            raise InfraError(where, f"pip took over {TIMEOUT_S} s", "check the network, then try again") from None
        found = sorted(target.iterdir()) if target.is_dir() else []
        if done.returncode or len(found) != 1:
            raise InfraError(where, f"pip download: {_complaint(done.stderr)}", "check pip's index settings")
        data = found[0].read_bytes()
    except OSError as error:
        raise storage_error(scratch, error) from error
    finally:
        for path in scratch.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if sha256_bytes(data) != sha256:
        raise InfraError(where, "pip got an archive of another hash", "check pip's index settings")
    return data


def _environment(scratch: Path) -> dict[str, str]:
    folder = scratch / "stand-in"
    folder.mkdir()
    shutil.copyfile(_HERE / "backend.py", folder / f"{STAND_IN}.py")
    shutil.copyfile(_HERE / "redirect.py", folder / "sitecustomize.py")
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PIP_USE_PEP517": "1",  # pip before 25.3 would run setup.py itself
        "SETUPTOOLS_USE_DISTUTILS": "stdlib",
        "TMPDIR": str(scratch / "tmp"),
    }


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return clean_text((errors or lines[-1:] or ["it gave no file"])[0], 200)

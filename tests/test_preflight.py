"""What a program inside a container sees, not only what the container's first process is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.debian import install_docker, installed
from harness.engine.images import BuiltImage
from harness.preflight import preflight
from tests.conftest import ROOT, image_cache

pytestmark = pytest.mark.engine

# A machine whose programs run below a chroot, as in a build root: this process's root is not its mount namespace's.
BELOW_A_CHROOT = """
import os, sys
from pathlib import Path
from harness.engine import daemon, rooted
folder, project, data, run, mode = sys.argv[1:]
rooted._call("unshare", 0x00020000)
rooted._call("mount", None, b"/", None, 16384 | 1 << 18, None)
rooted._call("mount", b"/", folder.encode(), None, 4096 | 16384, None)
os.chroot(folder)
os.chdir("/")
from harness.engine.addresses import Address
from harness.engine.connect import open_engine
from harness.engine.images import ensure
from harness.errors import GateError
from harness.preflight import preflight
if mode == "plain":
    daemon._ROOTED = ()
with daemon.PrivateDaemon(Path(data), Path(run)).hold(keep=False, notify=print) as url:
    engine = open_engine(Address("test", url, chosen=True))
    base = ensure(engine.api, "base", cache=Path(sys.argv[0]), images_dir=Path(project) / "images", report=print)
    try:
        preflight(engine, base.handle, "preflight-test")
        print("sealed")
    except GateError as error:
        print("refused:", error)
    left = engine.api.containers(all=True)
    engine.close()
assert left == []
"""


def test_a_sealed_engine_passes_and_nothing_is_left(
    engine: Engine, images: Mapping[str, BuiltImage], owner: str
) -> None:
    preflight(engine, images["base"].handle, owner)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "says"), [("rooted", "sealed"), ("plain", "refused: isolation")])
def test_below_a_chroot_our_daemon_is_sealed_and_a_plain_one_is_refused(
    images: Mapping[str, BuiltImage], tmp_path: Path, mode: str, says: str
) -> None:
    if not installed("dockerd"):
        install_docker(print)
    run = Path(tempfile.mkdtemp(prefix="tbr.", dir="/run"))
    folder = tmp_path / "root"
    folder.mkdir()
    script = BELOW_A_CHROOT.replace("sys.argv[0]", repr(str(image_cache())))
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(ROOT), str(tmp_path / "data"), str(run), mode],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    shutil.rmtree(run, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(says), done.stdout
    if mode == "plain":
        assert "the root filesystem is writable" in last

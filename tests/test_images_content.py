"""What is in our images, seen from inside."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from tests.images_rig import inside

pytestmark = pytest.mark.engine

LOOK = r"""
id
pwd
git init -q . && git commit -q --allow-empty -m x && git log --format='%an %ae %D'
python3 -c 'import ssl, sqlite3, ctypes, sys; print(sys.version_info[:2])'
for name in pip pip3 ensurepip; do command -v $name; done
stat -c '%n %u:%g %a' /workspace /grade /home/agent
"""

SEARCH = r"""
find / -xdev \( -perm /6000 -o -type b -o -path '/var/log/*' -o -path '/var/lib/apt/lists/*' -o -path '/var/cache/*' \
    -o -name '*.deb' -o -name sources.list -o -name machine-id \) -not -path '/dev/*' 2>/dev/null
echo searched
"""

BYTECODE = r"""
import importlib.util, pathlib, sys
roots = ["/usr/lib/python3.13", "/usr/lib/python3", "/usr/local/lib/python3.13"]
files = [path for root in roots for path in pathlib.Path(root).rglob("*.pyc")]
flags = {path.read_bytes()[4:8] for path in files}
import json, email, asyncio
lacking = [name for name, module in list(sys.modules.items()) if getattr(module, "__cached__", None)
           and (module.__spec__.origin or "").startswith("/usr") and not pathlib.Path(module.__spec__.cached).exists()]
print(len(files) > 500, flags == {b"\x01\0\0\0"}, lacking)
"""


@pytest.mark.parametrize("name", ["base", "python", "scanner"])
def test_an_image_is_what_its_page_says(engine: Engine, images: Mapping[str, BuiltImage], name: str) -> None:
    handle = images[name].handle
    assert inside(engine, handle, "sh", "-c", LOOK).splitlines() == [
        "uid=10001(agent) gid=10001(agent) groups=10001(agent)",
        "/workspace",
        "agent agent@localhost HEAD -> main",
        "(3, 13)",
        "/workspace 10001:10001 755",
        "/grade 10001:10001 755",
        "/home/agent 10001:10001 755",
    ]
    assert inside(engine, handle, "sh", "-c", SEARCH) == "searched\n"
    assert inside(engine, handle, "python3", "-c", BYTECODE) == "True True []\n"


def test_the_tools_are_there(engine: Engine, images: Mapping[str, BuiltImage]) -> None:
    assert inside(engine, images["python"].handle, "pytest", "--version").startswith("pytest ")
    tools = inside(
        engine, images["scanner"].handle, "sh", "-c", "ruff --version; radon --version; bandit --version | head -n 1"
    )
    assert [line.split()[0].rstrip("0123456789.") for line in tools.splitlines()] == ["ruff", "", "bandit"]

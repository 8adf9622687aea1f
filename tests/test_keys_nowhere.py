"""The real key while it is in use: in no container, no process's arguments or environment, no blob, log or error.

The upstream gives the key back in whatever it says, as careless ones do, so that there is something to keep out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.gateway.hook import LAUNCH, GatewayHook
from harness.gateway.records import Api
from tests.gateway_rig import BODIES, KEY, PATHS, gateway_rig, upstream_server
from tests.leak_search import search, search_processes

pytestmark = pytest.mark.engine

AGENT = f"""
import os, pathlib, time, urllib.error, urllib.request
kept = []
for token in (os.environ["TOKEN"], "guessed"):
    asked = urllib.request.Request("http://127.0.0.1:8080{PATHS[Api.CHAT]}", os.environ["BODY"].encode(),
        {{"authorization": "Bearer " + token, "content-type": "application/json"}})
    try:
        answer = urllib.request.urlopen(asked)
    except urllib.error.HTTPError as error:
        answer = error
    kept.append(str(answer.headers).encode() + answer.read())
pathlib.Path("/tmp/kept").write_bytes(b"\\n".join(kept))
pathlib.Path("/tmp/done").touch()
time.sleep(600)
"""


async def careless(request: web.BaseRequest) -> web.StreamResponse:
    """A refusal that quotes the key that it was given."""
    given = request.headers["authorization"]
    said = {"error": {"message": f"Incorrect API key provided: {given}"}}
    return web.json_response(said, status=401, headers={"x-given": given})


def told_of_processes() -> bytes:
    """The arguments and environments of every process that this one may look at, less its own."""
    found = b""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
    return found


def test_a_key_in_use_is_nowhere_to_be_seen(
    engine: Engine, images: Mapping[str, BuiltImage], owner: str, tmp_path: Path
) -> None:
    with upstream_server(careless) as fake, gateway_rig(tmp_path) as rig:
        hook = GatewayHook(rig.gateway, rig.access(fake.url))
        spec = SandboxSpec(role=Role.SOLVER, image=images["base"].handle, binds=hook.binds, workdir="/tmp")
        with Sandbox(engine, spec, owner) as sandbox:
            env = {"TOKEN": hook.token, "BODY": json.dumps(BODIES[Api.CHAT])}
            made = engine.api.exec_create(
                sandbox.id, [*LAUNCH, "python3", "-c", AGENT], user="10001:10001", environment=env
            )
            engine.api.exec_start(made["Id"], detach=True)
            for _ in range(300):
                if sandbox.run(("test", "-e", "/tmp/done"), timeout_s=30, max_output=100).exit_status == 0:
                    break
                time.sleep(0.1)
            kept = sandbox.run(("cat", "/tmp/kept"), timeout_s=30, max_output=1 << 16).stdout
            assert b"Incorrect API key provided: Bearer [redacted]" in kept, "it was asked, and its answer came"
            assert len(fake.seen) == 1 and fake.seen[0].headers["authorization"] == f"Bearer {KEY}", "with the key"

            assert search(sandbox, [KEY.encode()]) | search_processes(sandbox, [KEY.encode()]) == set()
            found = search(sandbox, [hook.token.encode()]) | search_processes(sandbox, [hook.token.encode()])
            assert "process:environ" in found, "the search finds what is there"
            told = told_of_processes()
            assert KEY.encode() not in told and hook.token.encode() in told
        hook.after_solve()
        assert hook.closed is not None and hook.closed.traffic.requests == 1
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"Incorrect API key" in path.read_bytes() for path in written), "the answer was kept"
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []

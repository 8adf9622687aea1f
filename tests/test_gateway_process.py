"""The gateway as a process of its run: started, asked by many threads, dying, and leaving nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import InfraError
from harness.gateway.access import Budget
from harness.gateway.client import Gateway
from harness.gateway.hook import GatewayHook
from harness.gateway.records import Api
from harness.hooks import disarmed
from tests.gateway_rig import ANTHROPIC_STREAM, BODIES, KEY, PATHS, events, gateway_rig, playing, upstream_server


def process_of(gateway: Gateway) -> int:
    return gateway._process.pid


def ended(pid: int) -> bool:
    """Whether a process ends within a minute; a zombie has."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_keys_are_in_no_argument_no_environment_and_no_repr(tmp_path):
    with gateway_rig(tmp_path) as rig:
        proc = Path("/proc") / str(process_of(rig.gateway))
        told = (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes()
        assert KEY.encode() not in told and b"API_KEY" not in told
        assert KEY not in repr(rig.gateway) + str(vars(rig.gateway))


def test_an_environment_full_of_secrets_is_not_passed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
    with gateway_rig(tmp_path) as rig:
        environ = (Path("/proc") / str(process_of(rig.gateway)) / "environ").read_bytes()
        assert b"sk-from-the-environment" not in environ and b"PATH=" in environ


def test_at_the_end_nothing_is_left(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        rig.door(fake.url).ask(Api.CHAT)
        pid = process_of(rig.gateway)
        assert list((tmp_path / "run").iterdir())
    assert ended(pid) and list((tmp_path / "run").iterdir()) == []


def test_one_that_dies_is_noticed_by_whoever_waits_and_whoever_comes(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        os.kill(process_of(rig.gateway), signal.SIGSTOP)
        caught = []

        def wait() -> None:
            try:
                rig.gateway.close(door.door)
            except InfraError as error:
                caught.append(str(error))

        waiting = threading.Thread(target=wait)
        waiting.start()
        os.kill(process_of(rig.gateway), signal.SIGKILL)
        waiting.join(60)
        assert len(caught) == 1 and "the gateway" in caught[0]
        with pytest.raises(InfraError, match="died"):
            rig.door(fake.url)
        assert not rig.gateway.alive
    assert list((tmp_path / "run").iterdir()) == []


def test_a_hook_whose_gateway_died_says_nothing_of_its_solver(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        hook = GatewayHook(rig.gateway, rig.access(fake.url))
        os.kill(process_of(rig.gateway), signal.SIGKILL)
        with pytest.raises(InfraError):
            hook.after_solve()
        assert hook.closed is None


def test_a_hook_that_fails_keeps_no_door_open(tmp_path):
    class Failing:
        def after_solve(self):
            raise InfraError("a hook", "failed")

    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        doors = [GatewayHook(rig.gateway, rig.access(fake.url)) for _ in range(2)]
        with pytest.raises(InfraError, match="a hook"):
            disarmed([Failing(), doors[0], Failing(), doors[1]])
        assert all(hook.closed is not None and not hook.door.folder.exists() for hook in doors)
        assert list(rig.gateway.folder.iterdir()) == []


def test_it_ends_with_its_run_however_that_ends(tmp_path):
    code = """
import sys, time
from pathlib import Path
from harness.gateway.client import Gateway
gateway = Gateway(Path(sys.argv[1]) / "blobs", Path(sys.argv[1]) / "run", {"a": "key-0123456789"})
print(gateway._process.pid, flush=True)
time.sleep(600)
"""
    run = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path.cwd())
    assert run.stdout is not None
    pid = int(run.stdout.readline())
    run.kill()
    run.wait()
    run.stdout.close()
    assert ended(pid)


def test_a_start_that_fails_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(InfraError, match=r"it died .*No such file"):
        Gateway(tmp_path / "blobs", tmp_path / "run", {})
    assert list((tmp_path / "run").iterdir()) == []


def test_a_door_is_closed_once(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        rig.gateway.close(door.door)
        with pytest.raises(InfraError, match="closed already"):
            rig.gateway.close(door.door)
        assert not door.door.folder.exists()


def test_a_folder_may_be_deeper_than_a_sockets_path_can_be(tmp_path):
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    with upstream_server() as fake, gateway_rig(deep) as rig:
        assert rig.door(fake.url).ask(Api.CHAT).status == 200


def test_hundreds_of_attempts_from_as_many_threads(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:

        def attempt(number: int) -> tuple[int, int]:
            door = rig.door(fake.url, budget=Budget(requests=2))
            statuses = [door.ask(list(Api)[number % 4]).status for _ in range(3)]
            closed, lines = door.close()
            assert statuses == [200, 200, 403] and len(lines) == 3
            return closed.traffic.requests, closed.traffic.denied

        with ThreadPoolExecutor(100) as pool:
            assert set(pool.map(attempt, range(200))) == {(2, 1)}
        assert len(fake.seen) == 400


def _memory_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // 1024


def test_many_long_streams_at_once_lose_nothing_and_memory_stays_bounded(tmp_path):
    delta = events({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 2000}})
    whole = events(ANTHROPIC_STREAM[0]) + delta * 600 + events(*ANTHROPIC_STREAM[2:])
    play = playing(events(ANTHROPIC_STREAM[0]), *[delta * 20] * 30, events(*ANTHROPIC_STREAM[2:]))
    body = {**BODIES[Api.ANTHROPIC], "stream": True}
    with upstream_server(play) as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        with ThreadPoolExecutor(32) as pool:
            got = list(pool.map(lambda _: door.send("POST", PATHS[Api.ANTHROPIC], body), range(64)))
        assert all(reply.body == whole for reply in got)
        assert _memory_mb(process_of(rig.gateway)) < 250
        closed, lines = door.close()
    assert len(lines) == 64 and {line.answer.usage.output for line in lines} == {7}
    assert closed.problem == ""


def test_a_solver_that_floods_its_door_is_held_within_bounds(tmp_path):
    """Half-sent bodies, slow readers and garbage on many connections: others are served all the same."""
    with upstream_server() as fake, gateway_rig(tmp_path) as rig, contextlib.ExitStack() as held:
        hostile, honest = rig.door(fake.url), rig.door(fake.url)
        for number in range(100):
            connection = held.enter_context(contextlib.closing(hostile.connection()))
            connection.putrequest("POST", PATHS[Api.CHAT])
            connection.putheader("content-length", str(30 << 20))
            connection.putheader("authorization", f"Bearer {hostile.door.token}")
            connection.endheaders(b"x" * 200_000 if number % 2 else b"")
        for _ in range(20):
            garbage = held.enter_context(contextlib.closing(hostile.connection()))
            garbage.connect()
            garbage.sock.sendall(os.urandom(2000))
        assert honest.ask(Api.CHAT).status == 200
        assert _memory_mb(process_of(rig.gateway)) < 250
        assert honest.close()[0].traffic.requests == 1


def test_the_trace_is_a_file_of_lines_until_its_door_is_closed(tmp_path):
    with upstream_server() as fake, gateway_rig(tmp_path) as rig:
        door = rig.door(fake.url)
        door.ask(Api.CHAT)
        door.send("POST", "/v1/files")
        until = time.monotonic() + 30
        while len(lines := _lines(door.door.folder)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        assert [json.loads(line)["status"] for line in lines] == [200, 404]
        assert [path.name for path in door.door.folder.iterdir()] == ["gateway.sock"]
        closed, _ = door.close()
        assert rig.store.get(closed.trace.digest).splitlines() == lines


def _lines(folder: Path) -> list[bytes]:
    return folder.with_name(f"{folder.name}.jsonl").read_bytes().splitlines()

"""What runs in a solver's container beside it: the launcher, the forwarder, the sinkhole; in real containers."""

from __future__ import annotations

import ast
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.gateway.hook import BASE_URL, INSIDE, LAUNCH, GatewayHook
from harness.gateway.inside import forward, sinkhole
from harness.gateway.records import Api
from tests.gateway_rig import BODIES, MODEL, GatewayRig, gateway_rig, upstream_server

# ---------------------------------------------------------------------------------------------------- the programs


@pytest.mark.parametrize("path", sorted(INSIDE.glob("*.py")), ids=lambda path: path.name)
def test_they_are_for_any_python_from_39_and_its_library_alone(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    named = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "")])
        if isinstance(node, ast.Import | ast.ImportFrom) and name
    }
    assert named <= {*sys.stdlib_module_names, "forward", "sinkhole", "harness"}


def _query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\0" + kind.to_bytes(2, "big") + b"\0\1"


def test_a_name_is_answered_with_this_very_host_and_other_types_with_nothing():
    packet = _query("api.example.test")
    name, kind, end = sinkhole.question(packet)
    assert (name, kind, end) == ("api.example.test", 1, len(packet))
    said = sinkhole.answer(packet, kind, end)
    assert (said[:2], said[3] & 15, said[6:8], said[-4:]) == (packet[:2], 0, b"\0\1", bytes([127, 0, 0, 1]))
    text = sinkhole.answer(packet, 16, end)
    assert (text[6:8], text[12:]) == (b"\0\0", packet[12:])


@given(st.binary(max_size=80))
def test_no_packet_and_no_first_record_breaks_the_sinkhole(data):
    asked = sinkhole.question(data)
    if asked is not None:
        sinkhole.answer(data, asked[1], asked[2])
    assert isinstance(sinkhole.server_name(b"\x16\x03\x01" + data), str)
    assert isinstance(sinkhole.http_host(data), str)


def test_what_is_noted_is_bounded():
    notes = sinkhole.Notes()
    for number in range(3000):
        notes.add("dns", f"host-{number}.test" + "x" * 300)
    told = []
    while notes.changed.is_set():
        told.append(json.loads(notes.take()))
    assert sum(one["dns"] for one in told) == 3000
    assert sum(len(one["seen"]) for one in told) == 500
    assert all(len(name) <= 253 for one in told for _, name in one["seen"])


# ---------------------------------------------------------------------------------------------------- the forwarder


@pytest.fixture
def echoed(tmp_path: Path) -> Iterator[int]:
    """A forwarder in a process of its own before an echo server; its port."""
    path = str(tmp_path / "s")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(200)

    def echo(one: socket.socket) -> None:
        with one, suppress(ConnectionError):
            while data := one.recv(1 << 16):
                one.sendall(data)

    def accept() -> None:
        while True:
            try:
                one, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(one,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    code = "import sys; sys.path.insert(0, sys.argv[1]); import forward; l = forward.bind(port=0); "
    code += "print(l.getsockname()[1], flush=True); forward.Forwarder(l, sys.argv[2]).serve()"
    process = subprocess.Popen([sys.executable, "-I", "-c", code, str(INSIDE), path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        server.close()


def test_bytes_pass_unchanged_both_ways_however_large_and_many(echoed):
    def through(number: int) -> None:
        sent = bytes([number]) * 3_000_000
        with socket.create_connection(("127.0.0.1", echoed)) as one:
            writer = threading.Thread(target=one.sendall, args=(sent,))
            writer.start()
            got = bytearray()
            while len(got) < len(sent):
                got += one.recv(1 << 16)
            writer.join()
            assert got == sent
            done.append(number)

    done: list[int] = []
    threads = [threading.Thread(target=through, args=(n,)) for n in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(done) == list(range(20))


def test_a_client_that_takes_nothing_holds_up_nobody_else(echoed):
    with socket.create_connection(("127.0.0.1", echoed)) as greedy:
        greedy.setblocking(False)
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < 1.0:  # until every buffer on the way is full
            try:
                greedy.send(b"x" * 65536)
                idle_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", echoed)) as other:
            other.settimeout(30)
            other.sendall(b"hello")
            assert other.recv(5) == b"hello"


def test_without_a_gateway_a_connection_ends_at_once(tmp_path):
    listener = forward.bind(port=0)
    forwarder = forward.Forwarder(listener, str(tmp_path / "nobody"))
    threading.Thread(target=forwarder.serve, daemon=True).start()
    with socket.create_connection(listener.getsockname()) as one:
        one.settimeout(30)
        assert one.recv(1) == b""


# ----------------------------------------------------------------------------------------------------- the launcher


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GatewayRig, str]]:
    with upstream_server() as fake, gateway_rig(tmp_path_factory.mktemp("gateway")) as rig:
        yield rig, fake.url


def launched(engine, images, owner, served, script: str, *, words=("sh", "-c"), **spec):
    """A script run by the launcher in a sealed container with a door; what it left, and the closed door."""
    rig, url = served
    hook = GatewayHook(rig.gateway, rig.access(url))
    made = SandboxSpec(
        role=Role.SOLVER, image=images["base"].handle, binds=tuple(hook.binds), workdir="/tmp", memory_mb=256, **spec
    )
    with Sandbox(engine, made, owner) as sandbox:
        hook.before_solve(sandbox)
        argv = (*LAUNCH, *words, script)
        ran = sandbox.run(argv, stdin=b"given", timeout_s=60, max_output=1 << 20, env={"TOKEN": hook.token})
    record = hook.after_solve()
    assert record.lines is not None and hook.closed is not None
    return ran, hook.closed, record


ASK = f"""
import json, os, sys, urllib.request
print(sys.stdin.read())
body = {json.dumps(BODIES[Api.ANTHROPIC])!r}.encode()
sent = urllib.request.Request("{BASE_URL}/v1/messages", body, {{"x-api-key": os.environ["TOKEN"]}})
print(json.load(urllib.request.urlopen(sent))["id"])
sys.exit("said")
"""


@pytest.mark.engine
def test_an_agent_reaches_its_model_and_its_exit_status_and_streams_are_its_own(engine, images, owner, served):
    ran, closed, record = launched(engine, images, owner, served, ASK, words=("python3", "-c"))
    assert (ran.exit_status, ran.stdout, ran.stderr) == (1, b"given\nmsg_1\n", b"said\n")
    assert (closed.traffic.requests, closed.traffic.requested_models) == (1, (MODEL,))
    assert record.coverage == "full"


@pytest.mark.engine
def test_the_agent_is_in_a_session_of_its_own_and_a_signal_is_its_exit_status(engine, images, owner, served):
    script = "import os, signal; print(os.getsid(0) == os.getpid(), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    ran, _, _ = launched(engine, images, owner, served, script, words=("python3", "-c"))
    assert (ran.exit_status, ran.stdout) == (128 + signal.SIGKILL, b"True\n")


@pytest.mark.engine
def test_a_signal_reaches_the_agent(engine, images, owner, served):
    script = "trap 'echo caught; exit 3' TERM; (sleep 1; kill -TERM $PPID) & wait; sleep 30 & wait"
    ran, _, _ = launched(engine, images, owner, served, script)
    assert (ran.exit_status, ran.stdout) == (3, b"caught\n")


@pytest.mark.engine
def test_a_program_that_is_not_there_says_so(engine, images, owner, served):
    ran, _, _ = launched(engine, images, owner, served, "x", words=("/no/such",))
    assert (ran.exit_status, ran.stderr) == (127, b"launch: /no/such: No such file or directory\n")


SINKS = """
import socket, ssl, urllib.request
print(socket.gethostbyname("files.example.test"))
try:
    urllib.request.urlopen("http://plain.example.test/x", timeout=5)
except OSError as error:
    print(type(error).__name__)
try:
    with socket.create_connection(("secret.example.test", 443), timeout=5) as raw:
        ssl.create_default_context().wrap_socket(raw, server_hostname="secret.example.test")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.engine
def test_what_ignores_the_gateway_is_named_and_gets_nowhere(engine, images, owner, served):
    ran, closed, _ = launched(engine, images, owner, served, SINKS, words=("python3", "-c"))
    assert ran.stdout.split() == [b"127.0.0.1", b"HTTPError", b"SSLError"], ran.stderr
    seen = closed.traffic.sinkhole
    assert set(seen.names) == {"files.example.test", "plain.example.test", "secret.example.test"}
    assert seen.dns >= 3 and seen.http == 1 and seen.tls == 1
    assert closed.traffic.requests == closed.traffic.denied == 0


@pytest.mark.engine
def test_nothing_is_written_and_few_processes_are_needed(engine, images, owner, served):
    script = "find /tmp /run/gateway /opt/trialbox -newer /proc/1/cmdline -type f"
    ran, _, _ = launched(engine, images, owner, served, script, pids=16)
    assert (ran.exit_status, ran.stdout) == (0, b"")

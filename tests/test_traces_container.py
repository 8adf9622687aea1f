"""Traces of real containers: what is seen, what is not, and what a solver can do about it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.engine.sandbox import Sandbox
from harness.records import Coverage
from harness.store import LocalStore
from harness.traces.records import DENIED, FILESYSTEM, EndLine, OverflowLine
from harness.traces.rights import problems
from harness.traces.tracer import files
from harness.traces.tracer.mounts import held
from harness.traces.tracer.process import Processes
from harness.traces.tracing import Tracer
from tests.traces_rig import container, watched

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(problems()[FILESYSTEM]), reason=f"no traces here: {problems()[FILESYSTEM]}"),
]
needs_calls = pytest.mark.skipif(bool(problems()[DENIED]), reason=f"no failed calls here: {problems()[DENIED]}")


def test_every_mount_is_watched_and_proved(engine, images, owner, tmp_path):
    with watched(engine, images, owner, tmp_path) as seen:
        seen.run(
            "cat /etc/hostname /etc/resolv.conf /proc/1/environ /sys/kernel/mm/transparent_hugepage/enabled;"
            "for place in /tmp /dev/shm /workspace; do echo x > $place/mine; done; ls /opt; /opt/bundle/tool.sh"
        )
        table = Path(f"/proc/{seen.sandbox.pid}/mountinfo").read_text()
    assert seen.records[FILESYSTEM].coverage is Coverage.FULL, seen.records[FILESYSTEM].reason
    markers = seen.markers(FILESYSTEM)
    assert {"/", "/workspace", "/opt/bundle", "/tmp", "/dev/shm", "/proc", "/etc/hostname"} <= set(markers)
    devices = {"/dev/null", "/dev/console", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/latency_stats"}
    devices |= {"/proc/sched_debug", "/proc/sysrq-trigger"}
    assert {line.split()[4] for line in table.splitlines()} - set(markers) <= devices
    opened = seen.paths("open")
    assert {
        *("/etc/hostname", "/etc/resolv.conf", "/proc/1/environ", "/sys/kernel/mm/transparent_hugepage/enabled"),
        *("/tmp/mine", "/dev/shm/mine", "/workspace/mine", "/opt", "/opt/bundle/tool.sh"),
    } <= set(opened)
    assert {"/opt/bundle/tool.sh", "/usr/bin/dash"} <= set(seen.paths("exec"))
    assert set(seen.paths("close_write")) == {"/tmp/mine", "/dev/shm/mine", "/workspace/mine"}
    line = opened["/workspace/mine"]
    late = line.command in {"sh", "tool.sh", None} or line.command.startswith("runc")
    assert late, "on a busy machine it is asked for late, or told as it was before it became the solver's program"
    assert line.pid > 1 and line.first_us <= line.last_us
    end = seen.lines(FILESYSTEM)[-1]
    assert isinstance(end, EndLine) and end.events >= len(opened) and end.overflows == 0


def test_names_that_change_or_are_odd(engine, images, owner, tmp_path):
    with watched(engine, images, owner, tmp_path) as seen:
        said = seen.python(
            "import os, mmap, time\n"
            "os.chdir('/workspace')\n"
            "open('old', 'w').close(); time.sleep(0.1); os.rename('old', 'new'); open('new').close()\n"
            "open('gone', 'w').close(); open('gone').close(); os.unlink('gone')\n"
            "open('it is (deleted)', 'w').close()\n"
            r"open(b'\xff\\ \xc3\xa9\n', 'w').close()" + "\n"
            "os.close(os.open('/etc/shells', os.O_PATH))\n"
            "open('mapped', 'wb').write(b'x' * 4096)\n"
            "fd = os.open('mapped', os.O_RDWR); view = mmap.mmap(fd, 4096); os.close(fd); view[0] = 1; view.close()\n"
            "os.link('new', 'other'); os.symlink('/etc/group', 'way'); open('way').close()\n"
            "os.mkfifo('pipe'); os.close(os.open('pipe', os.O_RDWR)); print('done')\n"
        )
        assert said == "done\n"
    assert seen.records[FILESYSTEM].coverage is Coverage.FULL, seen.records[FILESYSTEM].reason
    opened = set(seen.paths("open"))
    mine = {f"/workspace/{name}" for name in ("old", "new", "gone", "it is (deleted)", "mapped", "\\xff\\\\ é\n")}
    assert mine <= opened
    assert "/etc/group" in opened, "a link is its target"
    assert "/etc/shells" not in opened, "a name without content is no access"
    assert not {one for one in opened if "pipe" in one or one.endswith("gone (deleted)")}
    assert {"/workspace/mapped", "/workspace/gone"} <= set(seen.paths("close_write"))


@needs_calls
def test_failed_calls_connects_and_privileges(engine, images, owner, tmp_path):
    with watched(engine, images, owner, tmp_path) as seen:
        said = seen.python(
            "import os, socket, ctypes, time\n"
            "def no(work):\n"
            "    try: work()\n"
            "    except OSError: pass\n"
            "    else: print('went well', work)\n"
            "os.mkdir('/workspace/sub'); os.chdir('/workspace/sub')\n"
            "no(lambda: open('/tests/hidden.py')); no(lambda: os.stat('/solution')); no(lambda: open('../gone.py'))\n"
            "no(lambda: os.readlink('/nowhere')); no(lambda: os.chdir('/root')); no(lambda: os.unlink('/etc/passwd'))\n"
            "no(lambda: os.execv('/opt/nothing', ['x'])); no(lambda: open('/etc/shadow'))\n"
            "no(lambda: socket.socket().connect(('127.0.0.1', 9)))\n"
            "no(lambda: socket.socket(socket.AF_INET6).connect(('::1', 9)))\n"
            "no(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 0)))\n"
            "no(lambda: socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock'))\n"
            "no(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "assert libc.unshare(0x20000000) == -1 and libc.mount(b'x', b'/mnt', b'tmpfs', 0, None) == -1\n"
            "assert libc.ptrace(0, 0, 0, 0) == 0, 'a debugger works'\n"
            "time.sleep(0.3)\n"
        )
        assert said == ""
    record = seen.records[DENIED]
    assert record.coverage is Coverage.FULL, record.reason
    assert len(seen.markers(DENIED)) == 1
    assert {
        ("open", "/tests/hidden.py", "ENOENT"),
        ("stat", "/solution", "ENOENT"),
        ("readlink", "/nowhere", "ENOENT"),
        ("chdir", "/root", "EACCES"),
        ("open", "/etc/shadow", "EACCES"),
        ("exec", "/opt/nothing", "ENOENT"),
        ("connect", "127.0.0.1:9", "ECONNREFUSED"),
        ("connect", "127.0.0.1:0", "EINVAL"),
        ("connect", "unix:/var/run/docker.sock", "ENOENT"),
        ("socket", "17/3/0", "EPERM"),
        ("privilege", "unshare", "EPERM"),
        ("privilege", "mount", "EPERM"),
    } <= seen.calls()
    # Below a pid namespace of the engine's own a relative path stays as it was given.
    gone = {("open", path, "ENOENT") for path in ("/workspace/sub/../gone.py", "../gone.py")}
    assert gone & seen.calls()
    rest = {(kind, target) for kind, target, _ in seen.calls()}
    assert {("change", "/etc/passwd"), ("connect", "[::1]:9")} <= rest
    end = seen.lines(DENIED)[-1]
    assert isinstance(end, EndLine) and end.overflows == 0


@needs_calls
def test_what_others_do_is_of_no_trace(engine, images, owner, tmp_path):
    """Two attempts at once, and a host that opens, and fails to open, files of its own meanwhile."""
    secret = tmp_path / "host-only"
    secret.write_text("x")

    def attempt(name):
        folder = tmp_path / name
        folder.mkdir()
        with watched(engine, images, owner, folder) as seen:
            seen.run(f"echo x > /workspace/{name}; cat /workspace/{name} /missing-{name}")
            secret.read_text()
            (tmp_path / "never").exists()
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(attempt, ("first", "second"))
    for seen, mine, other in ((first, "first", "second"), (second, "second", "first")):
        told = {*seen.paths("open"), *(target for _, target, _ in seen.calls())}
        assert {f"/workspace/{mine}", f"/missing-{mine}"} <= told
        assert not {one for one in told if other in one or "host-only" in one or one.endswith("never")}
        assert seen.records[FILESYSTEM].coverage is seen.records[DENIED].coverage is Coverage.FULL


def test_a_solver_that_opens_as_fast_as_it_can_loses_no_path(engine, images, owner, tmp_path):
    with watched(engine, images, owner, tmp_path) as seen:
        took = float(
            seen.python(
                "import os, time\nbegan = time.monotonic()\n"
                "for i in range(3900): os.close(os.open(f'/workspace/{i}', os.O_CREAT | os.O_WRONLY))\n"
                "print(time.monotonic() - began)"
            )
        )
    assert seen.records[FILESYSTEM].coverage is Coverage.FULL, seen.records[FILESYSTEM].reason
    for op in ("open", "close_write"):
        lost = {f"/workspace/{i}" for i in range(3900)} - set(seen.paths(op))
        assert not lost, f"{len(lost)} of 3900 in {took:.2f} s"


def test_a_file_of_a_process_that_has_ended_is_no_loss(engine, images, owner, tmp_path):
    """The kernel can't open it anew for the tracer. Any ``df`` reads its own mounts and ends."""
    with watched(engine, images, owner, tmp_path) as seen:
        seen.run("for n in $(seq 50); do for f in mountinfo mounts environ; do head -c 1 /proc/self/$f; done; done")
    assert seen.records[FILESYSTEM].coverage is Coverage.FULL, seen.records[FILESYSTEM].reason


def test_a_lease_holds_the_tracer_up_for_nobody(engine, images, owner, tmp_path):
    """The kernel opens a file anew for the tracer, which a lease of the solver's could keep waiting for 45 seconds."""
    with watched(engine, images, owner, tmp_path) as seen:
        seen.python(
            "import fcntl, os, signal, time\n"
            "signal.signal(signal.SIGIO, lambda *_: None)\n"
            "os.close(os.open('/workspace/leased', os.O_CREAT | os.O_RDWR))\ntime.sleep(0.1)\n"
            "fd = os.open('/workspace/leased', os.O_RDWR)\n"
            "for _ in range(2000):\n"
            "    try: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK); break\n"
            "    except OSError: time.sleep(0.001)\n"
            "else: raise SystemExit('no lease')\n"
            "pid = os.fork()\n"
            "if pid == 0:\n"
            "    try: os.open('/workspace/leased', os.O_RDONLY | os.O_NONBLOCK)\n"
            "    except OSError: pass\n"
            "    os._exit(0)\n"
            "os.waitpid(pid, 0); open('/workspace/after', 'w').close(); time.sleep(0.2)\n"
        )
        began = time.monotonic()
    assert time.monotonic() - began < 40
    assert "/workspace/after" in seen.paths("open")


@pytest.mark.parametrize("old_kernel", [False, True])
def test_more_than_can_be_held_is_said(engine, images, owner, tmp_path, monkeypatch, old_kernel):
    if old_kernel:  # one that does not tell of files that can't be opened: it takes the unknown flag for a mistake
        monkeypatch.setattr(files, "_REPORT_FD_ERROR", 1 << 30)
    with container(engine, images, owner, tmp_path) as sandbox, held(sandbox.pid) as (mounts, failed):
        assert failed == []
        many, few = (
            files.Files([one for one in mounts if not one.kernel], Processes(sandbox.id), kernel=False, max_waiting=50)
            for _ in range(2)
        )
        assert many._batch == (1 if old_kernel else 128)
        assert many.prove(3) == few.prove(3) == []
        many.table._left = 5
        for watch in (many, few):
            watch.table.rows.clear()
        _touch(sandbox, "for i in $(seq 300); do : > /workspace/$i; done")
        few._drain(few._max)
        _touch(sandbox, ": > /workspace/later")
        for watch in (many, few):
            watch.stop()
            watch.watch()
    assert set(few.table.lost) == {"events came faster than they could be taken"}
    assert {(b"/workspace/1", "open", True), (b"/workspace/later", "open", True)} <= set(few.table.rows), (
        "marks are back"
    )
    assert set(many.table.lost) == {"more distinct events than are kept"} and len(many.table.rows) == 5


def test_a_tracer_that_is_killed_leaves_the_attempt_alone(engine, images, owner, tmp_path):
    with watched(engine, images, owner, tmp_path) as seen:
        os.kill(seen.tracer._process.pid, signal.SIGKILL)
        assert seen.run("echo still here") == "still here\n"
    for record in seen.records.values():
        assert (record.coverage, record.lines) == (Coverage.NONE, None)
        assert "ended before" in record.reason


def test_a_process_that_is_not_the_containers_is_not_watched(tmp_path):
    """A container that ended, and its pid another's by now."""
    tracer = Tracer(LocalStore(tmp_path))
    tracer.arm(SimpleNamespace(pid=os.getpid(), id="0" * 64))
    assert {tracer.record(one).reason for one in (FILESYSTEM, DENIED)} == {
        "the container ended before it could be watched"
    }


def test_a_harness_that_is_killed_leaves_no_tracer(engine, images, owner, tmp_path):
    program = (
        "import sys, time\nfrom types import SimpleNamespace\nfrom pathlib import Path\n"
        "from harness.store import LocalStore\nfrom harness.traces.tracing import Tracer\n"
        "tracer = Tracer(LocalStore(Path(sys.argv[1])))\n"
        "tracer.arm(SimpleNamespace(pid=int(sys.argv[2]), id=sys.argv[3]))\n"
        "print(tracer._process.pid, tracer._problems['filesystem'] == '', flush=True)\ntime.sleep(60)\n"
    )
    with container(engine, images, owner, tmp_path) as sandbox:
        argv = [sys.executable, "-c", program, str(tmp_path), str(sandbox.pid), sandbox.id]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as harness:
            assert harness.stdout is not None
            pid, works = harness.stdout.readline().split()
            assert works == "True" and _runs(int(pid))
            harness.kill()
        deadline = time.monotonic() + 10
        while _runs(int(pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _runs(int(pid))


@needs_calls
def test_a_32_bit_program_makes_the_channel_partial(engine, images, owner, tmp_path):
    """Its call numbers are others; that it failed a call is counted, and no more is claimed."""
    path = b"/nope\0"
    code = b"\xb8\x05\0\0\0\xbb\x74\x80\x04\x08\x31\xc9\xcd\x80\xb8\x01\0\0\0\x31\xdb\xcd\x80"
    header = bytes.fromhex("7f454c460101010000000000000000000200030001000000") + (0x8048074 + len(path)).to_bytes(
        4, "little"
    )
    header += (52).to_bytes(4, "little") + bytes(8) + bytes.fromhex("340020000100000000000000")
    size = (116 + len(path) + len(code)).to_bytes(4, "little")
    header += (1).to_bytes(4, "little") + bytes(4) + 2 * (0x8048000).to_bytes(4, "little") + 2 * size
    header += (5).to_bytes(4, "little") + (0x1000).to_bytes(4, "little")
    header = header.ljust(116, b"\0")
    with watched(engine, images, owner, tmp_path) as seen:
        said = seen.python(
            f"import os\nopen('/tmp/small', 'wb').write({header + path + code!r}); os.chmod('/tmp/small', 0o755)\n"
            "import subprocess\ntry: print(subprocess.run(['/tmp/small']).returncode)\nexcept OSError: print('no')\n"
        )
    if said == "no\n":
        pytest.skip("this kernel runs no 32-bit programs")
    assert said == "0\n"
    assert seen.records[DENIED].coverage is Coverage.PARTIAL
    assert [one.reason for one in seen.lines(DENIED) if isinstance(one, OverflowLine)] == [
        "32-bit programs ran, whose calls are not read"
    ]


def _touch(sandbox: Sandbox, script: str) -> None:
    assert sandbox.run(("sh", "-c", script), timeout_s=60, max_output=1000).exit_status == 0


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False

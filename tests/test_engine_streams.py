"""The exec stream and the cgroup reader, on imitations: a socket pair, and folders as of version 2."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.cgroup import Cgroup, Limits, UsageSource
from harness.engine.exec import Frames, Stream, _pump


def _frame(stream, data):
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=12),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_frames_split_anywhere_give_the_same_streams(frames, cuts):
    wire = b"".join(_frame(*one) for one in frames)
    out, err = bytearray(), bytearray()
    reader = Frames(out.extend, err.extend)
    at = 0
    while at < len(wire):
        step = cuts[at % len(cuts)]
        reader.feed(wire[at : at + step])
        at += step
    assert bytes(out) == b"".join(data for stream, data in frames if stream == 1)
    assert bytes(err) == b"".join(data for stream, data in frames if stream == 2)


@pytest.fixture
def pair():
    ours, engines = socket.socketpair()
    yield Stream(ours), engines
    ours.close()
    engines.close()


def _run(stream, *, seconds, running, stdin=b""):
    out = bytearray()
    late = _pump(stream, iter((stdin,)), time.monotonic() + seconds, bool(stdin), out.extend, out.extend, running)
    return late, bytes(out)


def test_input_that_nobody_takes_does_not_hold_up_the_deadline(pair):
    stream, _ = pair
    assert _run(stream, seconds=1, running=lambda: True, stdin=bytes(50 << 20)) == (True, b"")


def test_a_stream_that_is_cut_within_a_frame_keeps_what_came(pair):
    stream, engine = pair
    engine.sendall(_frame(1, b"whole") + _frame(1, b"cut in two")[:12])
    engine.close()
    assert _run(stream, seconds=5, running=lambda: False) == (False, b"wholecut ")


def test_a_program_is_waited_for_after_its_streams_are_closed(pair):
    stream, engine = pair
    engine.sendall(_frame(2, b"bye"))
    engine.close()
    until = time.monotonic() + 0.7
    assert _run(stream, seconds=10, running=lambda: time.monotonic() < until) == (False, b"bye")
    assert time.monotonic() >= until


def test_a_program_that_goes_on_with_closed_streams_meets_its_deadline(pair):
    stream, engine = pair
    engine.close()
    assert _run(stream, seconds=0.7, running=lambda: True) == (True, b"")


def test_what_was_said_before_the_end_is_heard_to_the_end(pair):
    stream, engine = pair
    wire = _frame(1, bytes(40 << 20))

    def say():
        engine.sendall(wire[: 20 << 20])
        time.sleep(0.1)
        engine.sendall(wire[20 << 20 :])

    talker = threading.Thread(target=say)
    talker.start()
    late, out = _run(stream, seconds=20, running=lambda: False)
    talker.join()
    assert (late, len(out)) == (False, 40 << 20)


@pytest.mark.timeout(30)
def test_a_child_that_never_stops_talking_does_not_hide_that_the_program_ended(pair):
    stream, engine = pair
    stop = threading.Event()

    def talk():
        while not stop.wait(0.02):
            engine.sendall(_frame(1, b"x"))

    talker = threading.Thread(target=talk)
    talker.start()
    until = time.monotonic() + 0.5
    late, _ = _run(stream, seconds=8, running=lambda: time.monotonic() < until)
    stop.set()
    talker.join()
    assert not late


# ---------------------------------------------------------------------------------- a version 2 kernel, in folders


@pytest.fixture
def version_2(tmp_path: Path):
    """What a host with the unified hierarchy alone shows of a container; written by hand after the kernel's manual."""
    proc = tmp_path / "proc" / "77"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text("0::/system.slice/docker-abc123.scope\n")
    group = tmp_path / "cgroup" / "system.slice" / "docker-abc123.scope"
    group.mkdir(parents=True)
    for name, text in {
        "memory.max": "268435456\n",
        "memory.swap.max": "0\n",
        "memory.peak": "1048576\n",
        "memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n",
        "pids.max": "64\n",
        "pids.events": "max 3\n",
        "cpuset.cpus": "1\n",
        "cpu.stat": "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nthrottled_usec 0\n",
        "cpu.max": "50000 100000\n",
        "cgroup.procs": "77\n78\n",
    }.items():
        (group / name).write_text(text)
    return tmp_path, group


def _open(folder: Path, marker="abc123"):
    return Cgroup(77, marker, folder / "cgroup", folder / "proc")


def test_version_2_limits_and_use(version_2):
    folder, _ = version_2
    group = _open(folder)
    assert group.version == 2
    assert group.limits() == Limits(memory_bytes=256 << 20, swap_bytes=0, pids=64, cpuset="1")
    use = group.usage()
    assert use.source is UsageSource.CGROUP_V2
    assert (use.memory_peak_bytes, use.cpu_us, use.throttled_us, use.oom_kills, use.pids_refused) == (
        1 << 20,
        1500,
        0,
        1,
        3,
    )
    assert group.processes() == (77, 78)


def test_version_2_says_none_where_the_kernel_does_not_say(version_2):
    folder, group = version_2
    for name in ("memory.peak", "memory.swap.max", "pids.events"):
        (group / name).unlink()
    (group / "memory.max").write_text("max\n")
    assert _open(folder).limits() == Limits(memory_bytes=None, swap_bytes=None, pids=64, cpuset="1")
    use = _open(folder).usage()
    assert (use.memory_peak_bytes, use.pids_refused) == (None, None)


def test_version_2_limits_are_lifted_for_the_end(version_2):
    folder, group = version_2
    _open(folder).lift_limits()
    assert ((group / "cpu.max").read_text(), (group / "memory.max").read_text()) == ("max", "max")


def test_a_strangers_process_is_never_read(version_2):
    folder, _ = version_2
    with pytest.raises(LookupError):
        _open(folder, marker="other")


def test_the_hybrid_of_both_versions_counts_as_version_1(tmp_path: Path):
    proc = tmp_path / "proc" / "77"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text(
        "4:pids:/docker/abc123\n3:cpu,cpuacct:/docker/abc123\n2:memory:/docker/abc123\n0::/docker/abc123\n"
    )
    for controller, name, text in (
        ("memory", "memory.limit_in_bytes", "9223372036854771712"),
        ("pids", "pids.max", "max"),
        ("cpu,cpuacct", "cpuacct.usage", "2000000"),
    ):
        place = tmp_path / "cgroup" / controller / "docker" / "abc123"
        place.mkdir(parents=True)
        (place / name).write_text(text)
    (tmp_path / "cgroup" / "cpuacct").symlink_to("cpu,cpuacct")
    group = _open(tmp_path)
    assert group.version == 1
    assert group.limits() == Limits(memory_bytes=None, swap_bytes=None, pids=None, cpuset=None)
    assert group.usage().cpu_us == 2000

"""A container is as sealed as its spec says, read from the kernel; anything less is refused."""

from __future__ import annotations

import json

import pytest

from harness.engine import seal, seccomp
from harness.engine.cgroup import Cgroup, Limits
from harness.engine.client import LABEL
from harness.engine.owned import STATE_LABEL, Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.seal import SealFacts, SealSource
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.errors import GateError, InfraError

pytestmark = pytest.mark.engine


def _volume(target="/workspace", **options):
    return VolumeMount(volume=opaque_name(), target=target, size_mb=16, inodes=500, **options)


@pytest.fixture
def sandbox(engine, images, owner):
    mounts = (_volume(),)
    volumes = Volumes(engine, owner, mounts)
    spec = SandboxSpec(
        role=Role.SOLVER, image=images["base"].handle, volumes=mounts, cpuset="0", memory_mb=256, pids=64
    )
    try:
        with Sandbox(engine, spec, owner) as box:
            yield box
    finally:
        volumes.remove()


def _inside(sandbox, script):
    result = sandbox.run(("sh", "-c", script), timeout_s=20, max_output=1 << 16)
    return result.exit_status, result.stdout.decode()


def test_the_kernel_agrees_with_the_spec(sandbox):
    facts = sandbox.seal
    assert facts.source is SealSource.HOST
    assert facts.interfaces == ("lo",)
    assert facts.routes_off_loopback == 0
    assert facts.limits == Limits(memory_bytes=256 << 20, swap_bytes=facts.limits.swap_bytes, pids=64, cpuset="0")


def test_both_ways_of_reading_give_the_same_facts(sandbox):
    answer = sandbox.run(seal.READ_INSIDE, timeout_s=20, max_output=1 << 20)
    inside = seal.parse_inside(answer.stdout.decode())
    assert inside.model_copy(update={"source": SealSource.HOST}) == sandbox.seal


def test_nothing_can_be_written_but_volumes_and_tmp(sandbox):
    status, out = _inside(
        sandbox,
        "for d in / /etc /usr /var /home /opt /root /dev /sys /proc/sys/kernel; do"
        ' if touch $d/x 2>/dev/null; then echo "wrote $d"; fi; done;'
        " touch /workspace/ok /tmp/ok && echo done",
    )
    assert (status, out) == (0, "done\n")


def test_only_loopback_exists_and_there_is_no_resolver(sandbox):
    status, out = _inside(
        sandbox, "ls /sys/class/net; cat /proc/net/route | tail -n +2; cat /etc/resolv.conf 2>/dev/null; true"
    )
    assert (status, out) == (0, "lo\n")


def test_the_environment_is_an_allow_list(sandbox):
    _, out = _inside(sandbox, "tr '\\0' '\\n' < /proc/self/environ | cut -d= -f1 | sort")
    assert set(out.split()) <= {"HOME", "HOSTNAME", "LANG", "PATH", "PWD"}


def test_privileges_cannot_be_raised(sandbox):
    _, out = _inside(sandbox, "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status")
    values = dict(line.split(":\t") for line in out.splitlines())
    assert int(values["CapEff"], 16) == 0
    assert int(values["CapBnd"], 16) == 0
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")


def test_setuid_and_device_files_do_nothing_on_the_volume(sandbox):
    _, out = _inside(
        sandbox,
        "cp /usr/bin/id /workspace/id && chmod 6755 /workspace/id && /workspace/id -u; "
        "mknod /workspace/d b 1 1 2>&1 | tail -c 24",
    )
    assert out.splitlines()[0] == "10001"
    assert "not permitted" in out


def test_a_volume_is_full_at_its_size_and_at_its_inodes(sandbox):
    _, size = _inside(
        sandbox, "head -c 100000000 /dev/zero > /workspace/big 2>&1; stat -c %s /workspace/big; rm /workspace/big"
    )
    assert int(size.split()[-1]) <= 16 << 20
    _, count = _inside(sandbox, "cd /workspace; i=0; while touch f$i; do i=$((i+1)); done 2>/dev/null; ls | wc -l")
    assert int(count) < 500


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"interfaces": ("lo", "eth0")}, "eth0"),
        ({"routes_off_loopback": 1}, "routes"),
        ({"no_new_privileges": False}, "new privileges"),
        ({"seccomp_filter": False}, "seccomp"),
        ({"cap_effective": "00000000a80425fb"}, "capabilities"),
        ({"uid": 0}, "uid 0"),
        ({"limits": Limits(memory_bytes=None, swap_bytes=0, pids=64, cpuset="0")}, "memory limit"),
        ({"limits": Limits(memory_bytes=256 << 20, swap_bytes=1 << 20, pids=64, cpuset="0")}, "swap limit"),
        ({"limits": Limits(memory_bytes=256 << 20, swap_bytes=0, pids=None, cpuset="0")}, "pids limit"),
        ({"limits": Limits(memory_bytes=256 << 20, swap_bytes=0, pids=64, cpuset="0-1")}, "cores"),
        ({"mounts": ()}, "root filesystem"),
    ],
)
def test_each_missing_wall_is_refused_by_name(sandbox, change, named):
    facts = SealFacts.model_validate({**sandbox.seal.model_dump(), **change})
    with pytest.raises(GateError, match=named):
        seal.check(sandbox.spec, facts, swap_on_host=True)


def test_a_bridge_network_is_seen(engine, images, owner, sandbox):
    """Someone who joins a network to a running container is caught by reading the facts again."""
    network = engine.api.create_network(opaque_name(), driver="bridge", internal=True, labels={"trialbox": "1"})["Id"]
    made = engine.api.create_container(
        images["base"].handle,
        ["-c", "sleep 60"],
        entrypoint=["sh"],
        labels={"trialbox": "1", "trialbox.state": owner},
        host_config=engine.api.create_host_config(network_mode=network),
    )["Id"]
    try:
        engine.api.start(made)
        pid = engine.api.inspect_container(made)["State"]["Pid"]
        facts = seal.read_on_host(pid, Cgroup(pid, made))
        with pytest.raises(GateError, match="interfaces eth0"):
            seal.check(sandbox.spec, facts, swap_on_host=False)
    finally:
        engine.api.remove_container(made, force=True)
        engine.api.remove_network(network)


def test_a_limit_that_the_engine_does_not_enforce_refuses_the_container(engine, images, owner):
    spec = SandboxSpec(role=Role.SOLVER, image=images["base"].handle, cpuset="0", memory_mb=256, pids=64)
    with pytest.raises(GateError, match="is not the capped volume"):
        # A volume that exists as a plain folder on disk has no cap: the engine mounts it without a word.
        name = opaque_name()
        engine.api.create_volume(name, labels={"trialbox": "1", "trialbox.state": owner})
        try:
            plain = VolumeMount(volume=name, target="/workspace", size_mb=16, inodes=500)
            Sandbox(engine, spec.model_copy(update={"volumes": (plain,)}), owner)
        finally:
            engine.api.remove_volume(name)


def test_an_image_that_is_not_there_is_one_line(engine, owner):
    with pytest.raises(InfraError, match="container"):
        Sandbox(engine, SandboxSpec(role=Role.PROBE, image="sha256:" + "0" * 64), owner)


def test_output_is_cut_with_a_count_and_both_streams_are_kept_apart(sandbox):
    result = sandbox.run(
        ("sh", "-c", "head -c 3000000 /dev/zero; echo problem >&2; exit 7"), timeout_s=20, max_output=1000
    )
    assert (len(result.stdout), result.dropped, result.stderr, result.exit_status) == (1000, 2_999_000, b"problem\n", 7)


def test_input_reaches_the_program_whole(sandbox):
    sent = json.dumps(list(range(400_000))).encode()
    result = sandbox.run(("sha256sum",), stdin=sent, timeout_s=20, max_output=1000)
    import hashlib

    assert result.stdout.split()[0].decode() == hashlib.sha256(sent).hexdigest()


def test_a_program_that_ends_is_noticed_though_its_child_holds_the_stream(sandbox):
    result = sandbox.run(("sh", "-c", "sleep 300 & echo early"), timeout_s=60, max_output=1000)
    assert (result.stdout, result.exit_status, result.timed_out) == (b"early\n", 0, False)


def test_a_program_that_does_not_read_its_input_does_not_block(sandbox):
    result = sandbox.run(
        ("sh", "-c", "exec 0<&-; sleep 0.1; echo ok"), stdin=b"x" * 5_000_000, timeout_s=20, max_output=100
    )
    assert (result.stdout, result.exit_status) == (b"ok\n", 0)


def test_a_deadline_ends_the_call_and_says_so(sandbox):
    result = sandbox.run(("sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"), timeout_s=1, max_output=10)
    assert (result.timed_out, result.exit_status) == (True, None)


def test_processes_that_are_ending_are_not_taken_for_some_that_stay(sandbox):
    before = sandbox.processes()
    sandbox.run(("sh", "-c", "sleep 0.3 >/dev/null 2>&1 &"), timeout_s=10, max_output=100)
    assert sandbox.processes(expected=before) == before
    sandbox.run(("sh", "-c", "sleep 30 >/dev/null 2>&1 &"), timeout_s=10, max_output=100)
    assert sandbox.processes(expected=before) == before + 1


def test_a_container_whose_creation_nobody_heard_of_holds_no_volume(engine, images, owner):
    """As a request leaves it that was interrupted before its answer came."""
    mount = _volume()
    volumes = Volumes(engine, owner, (mount,))
    engine.api.create_container(
        images["base"].handle,
        ["sleep", "60"],
        labels={LABEL: "1", STATE_LABEL: owner},
        host_config=engine.api.create_host_config(
            mounts=[{"Type": "volume", "Source": mount.volume, "Target": "/workspace"}]
        ),
    )
    volumes.remove()
    assert mount.volume not in {one["Name"] for one in engine.api.volumes()["Volumes"] or ()}
    assert not engine.api.containers(all=True, filters={"label": f"{STATE_LABEL}={owner}"})


def test_only_sockets_that_a_namespace_holds_can_be_opened(sandbox):
    """Among them none to a hypervisor below (vsock), whose other end is outside of every namespace."""
    ask = """
import socket
for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind)
        except OSError:
            continue
        print(family)
"""
    result = sandbox.run(("python3", "-c", ask), timeout_s=60, max_output=1 << 16)
    assert result.exit_status == 0
    assert {int(one) for one in result.stdout.split()} <= set(seccomp.FAMILIES.values())
    assert {1, 2} <= {int(one) for one in result.stdout.split()}


def test_a_profile_that_allows_what_it_does_not_name_is_not_narrowed():
    with pytest.raises(ValueError, match="ALLOW"):
        seccomp.narrowed({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []})

"""The engine's socket, mounts, device nodes, namespaces: out of the container by what it was given."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        ls /var/run/docker.sock /run/podman/podman.sock && echo "LOOT socket"
        mount -t tmpfs none /mnt && echo "LOOT mount"
        mknod /tmp/disk b 8 0 && echo "LOOT device"
        unshare -Ur true && echo "LOOT namespace"
        chroot / true && echo "LOOT chroot"
        echo x > /usr/bin/x && echo "LOOT root"
        grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo "LOOT capabilities"
        grep -q 'NoNewPrivs:.*1' /proc/self/status || echo "LOOT privileges"
        echo "found nothing"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="uses what is there: /tmp, its home and a pipe",
    control=Solve("echo a > /tmp/a; echo b > ~/b; cat /tmp/a ~/b | sort; fix"),
    traced=("filesystem: attempted_empty: host_probe",),
)

"""Ignores the proxy that it is told of and looks for another way out."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        unset http_proxy https_proxy ALL_PROXY
        others=$(ls /sys/class/net | grep -vx lo); routes=$(tail -n +2 /proc/net/route)
        [ -z "$others$routes" ] && echo "found nothing" || echo "LOOT $others $routes"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="talks to a server of its own on the loopback",
    control=Solve(
        r"""
        python3 -c "
        import socket
        s = socket.create_server(('127.0.0.1', 8099)); c = socket.create_connection(('127.0.0.1', 8099)); s.accept()[0].send(b'x'); c.recv(1)"
        fix
        """,
    ),
)

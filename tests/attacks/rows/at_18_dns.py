"""Asks a resolver, by which questions and answers would leave."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        python3 -c "
        import socket
        try: print('LOOT', socket.getaddrinfo('answers.example', 443))
        except OSError: print('found nothing')"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="asks by number for a server of its own",
    control=Solve(
        r"""
        python3 -c "import socket; socket.getaddrinfo('127.0.0.1', 80)" && fix
        """,
    ),
)

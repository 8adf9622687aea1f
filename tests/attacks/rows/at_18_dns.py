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
    honest="resolves its own name",
    control=Solve(
        r"""
        python3 -c "import socket; socket.getaddrinfo('localhost', 80)"; fix
        """,
    ),
)

"""The command."""

import sys

from gridquery.errors import QueryError
from gridquery.query import run
from gridquery.table import write_csv


def main() -> int:
    """Run the steps on standard input; the exit status."""
    try:
        answer = run(sys.stdin.read())
    except QueryError as error:
        print(f"gridquery: {error}", file=sys.stderr)
        return 2
    sys.stdout.write(write_csv(answer))
    return 0

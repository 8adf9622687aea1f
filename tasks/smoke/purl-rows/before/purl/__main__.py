"""The command line."""

import argparse
import sys
from pathlib import Path

from purl.chart import chart
from purl.pattern import Row, rows_of
from purl.stitches import PatternError


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="purl")
    parser.add_argument("command", choices=["expand", "check", "chart"])
    parser.add_argument("pattern", nargs="?", default="-")
    parser.add_argument("--cast-on", type=int, required=True)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(words)
    if (given.command == "chart") != (given.out is not None):
        parser.error("--out goes with chart")
    try:
        text = sys.stdin.read() if given.pattern == "-" else Path(given.pattern).read_text(encoding="utf-8")
        rows = rows_of(text, given.cast_on)
    except (PatternError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if given.command == "chart":
        given.out.write_text(chart(rows), encoding="utf-8")
    else:
        sys.stdout.write("".join(_line(given.command, row) for row in rows))
    return 0


def _line(command: str, row: Row) -> str:
    if command == "expand":
        return f"{row.number}: {' '.join(row.names)}\n"
    return f"row {row.number}: {row.before} -> {row.after}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The command."""

import argparse
import sys
from datetime import date
from pathlib import Path

from almanac.listing import listing, next_day, read_rules
from almanac.rules import RuleError, day_of


def main(argv: list[str] | None = None) -> int:
    """Run it; the exit status."""
    options = _parser().parse_args(argv)
    try:
        rules = read_rules(options.rules.read_text(encoding="utf-8"))
        closed = frozenset(day_of(line) for line in options.closed.read_text().split()) if options.closed else frozenset()
        if options.command == "list":
            for line in listing(rules, options.today, options.days, closed):
                print(line)
            return 0
        (rule,) = [rule for rule in rules if rule.name == options.name]
        print(next_day(rule, options.today, closed) or "-")
    except (OSError, RuleError, ValueError) as error:
        print(f"almanac: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="almanac")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("list", "next"):
        one = commands.add_parser(name)
        one.add_argument("rules", type=Path)
        if name == "next":
            one.add_argument("name")
        else:
            one.add_argument("--days", type=int, default=30)
        one.add_argument("--today", type=date.fromisoformat, required=True)
        one.add_argument("--closed", type=Path)
    return parser

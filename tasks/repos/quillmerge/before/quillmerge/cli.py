"""The command."""

import argparse
import sys
from pathlib import Path

from quillmerge.merge import merge3


def main(argv: list[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(prog="quillmerge")
    for name in ("base", "ours", "theirs"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args(argv)
    try:
        base, ours, theirs = (path.read_bytes().decode() for path in (options.base, options.ours, options.theirs))
    except (OSError, UnicodeDecodeError) as error:
        print(f"quillmerge: {error}", file=sys.stderr)
        return 2
    merged = merge3(base, ours, theirs)
    sys.stdout.buffer.write(str(merged["text"]).encode())
    return int(merged["conflicts"] != 0)

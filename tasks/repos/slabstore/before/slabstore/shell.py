"""Commands from standard input."""

import sys
from pathlib import Path

from slabstore.errors import RefusedError, SlabError
from slabstore.store import Store


def main() -> int:
    """Run it; the exit status."""
    if len(sys.argv) != 2:
        print("usage: slabstore FOLDER", file=sys.stderr)
        return 2
    try:
        store = Store(Path(sys.argv[1]))
    except (SlabError, OSError) as error:
        print(f"slabstore: {error}", file=sys.stderr)
        return 3
    for line in sys.stdin:
        try:
            said = _carry_out(store, line.rstrip("\n"))
        except (RefusedError, ValueError) as error:
            print(f"slabstore: {error}", file=sys.stderr)
            return 2
        for one in said:
            print(one)
    return 0


def _carry_out(store: Store, line: str) -> list[str]:
    match line.split(" "):
        case ["put", key, *text] if key and text:
            store.put(key, " ".join(text))
        case ["del", key] if key:
            return [] if store.delete(key) else ["absent"]
        case ["get", key]:
            text = store.get(key)
            return ["-" if text is None else text]
        case ["keys"]:
            return store.keys()
        case ["seal"]:
            store.seal()
        case ["compact"]:
            store.compact()
        case ["compact", first, last]:
            store.compact(int(first), int(last))
        case ["segments"]:
            return [f"{number:04d} v{version} {count}" for number, version, count in store.segments()]
        case _:
            raise RefusedError(f"can't be understood: {line!r}")
    return []

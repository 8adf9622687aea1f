"""``python -m tests.attacks``: every attack and its control; a table, and exit status 1 if one is not as it must be.

``--only`` takes ids; ``--jobs`` is how many pairs run at once; ``--write`` makes ``docs/attacks.md`` of a run in which
everything was as it must be, and ``--details`` prints all that was noticed.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness.engine.connect import connect
from harness.engine.images import ensure
from tests.attacks.page import PAGE, make_page
from tests.attacks.pair import Row, Stage, all_rows
from tests.attacks.run import Result, needs_engine, run_row
from tests.attacks.workshop import Workshop, make_workshop
from tests.conftest import IMAGES, ROOT, image_cache


def main(words: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks")
    parser.add_argument("--only", nargs="+", metavar="ID", help="rows, or catalogue ids with all their probes")
    parser.add_argument("--no-engine", action="store_true", help="only rows that run no container")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="make docs/attacks.md of the run")
    parser.add_argument("--details", action="store_true")
    asked = parser.parse_args(words)
    only = set(asked.only or ())
    rows = [row for row in all_rows() if not only or {row.id, row.catalogue} & only]
    if asked.no_engine:
        rows = [row for row in rows if not needs_engine(row)]
    if not rows or (asked.write and len(rows) < len(all_rows())):
        parser.error("--write needs all rows" if rows else "no such row")
    began = time.monotonic()
    with _workshop(needed=any(map(needs_engine, rows))) as workshop:
        results = []
        for result in _results(rows, workshop, asked.jobs):
            results.append(result)
            _tell(result, details=asked.details)
    wrong = [result for result in results if result.wrong]
    _counts(results)
    print(f"{len(results)} pairs, {len(wrong)} not as they must be, {time.monotonic() - began:.0f} s")
    if asked.write and not wrong:
        PAGE.write_text(make_page(all_rows()))
    return 1 if wrong else 0


def _results(rows: Sequence[Row], workshop: Workshop | None, jobs: int) -> Iterator[Result]:
    """The rows' results in their order. Those without a container come about first and alone: some look at what is
    printed, and standard output is everybody's."""
    quick = {row.id: run_row(row, None) for row in rows if not needs_engine(row)}
    with ThreadPoolExecutor(jobs) as pool:
        rest = {row.id: pool.submit(run_row, row, workshop) for row in rows if row.id not in quick}
        for row in rows:
            yield quick[row.id] if row.id in quick else rest[row.id].result()


@contextmanager
def _workshop(*, needed: bool) -> Iterator[Workshop | None]:
    if not needed:
        yield None
        return
    with connect() as engine, tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        images = {
            name: ensure(engine.api, name, cache=image_cache(), images_dir=ROOT / "images", report=print)
            for name in IMAGES
        }
        yield make_workshop(engine, images, Path(folder), "attacks-" + secrets.token_hex(8))


def _tell(result: Result, *, details: bool) -> None:
    row = result.row
    verdict = "; ".join((*row.pair.verdict, *row.pair.traced))
    print(f"{'WRONG' if result.wrong else 'ok':<6}{row.id:<8}{row.pair.stage:<9}{verdict:<64.64}  {row.mechanism:.90}")
    for one in result.wrong:
        print(f"        {one}")
    if details or result.wrong:
        for name, facts in (("attack", result.attack), ("control", result.control)):
            print(*(f"        {name}: {fact}" for fact in facts), sep="\n")
    sys.stdout.flush()


def _counts(results: list[Result]) -> None:
    pairs = Counter(result.row.pair.stage for result in results)
    right = Counter(result.row.pair.stage for result in results if not result.wrong)
    for stage in Stage:
        print(f"{stage:<9}{pairs[stage]:>4} pairs, {right[stage]:>4} as they must be")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

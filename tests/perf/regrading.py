"""What grading a stored change again costs over the bare container lifecycles that it needs."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.cores import Cores
from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import ensure
from harness.regrading import Regrader
from harness.scanning import open_scanner
from harness.solvers.manifest import DriverKind, Manifest
from tests.attempt_rig import make_rig, small_task
from tests.conftest import IMAGES, ROOT, image_cache
from tests.perf.bare import Recorder, recording, replay

ROUNDS = 7
LIMIT = 1.5

Say = Callable[[str], None]


def measure(say: Say) -> bool:
    """Regrade against bare lifecycles, on one core and on all; whether the ratio kept its limit."""
    with connect(notify=say) as engine, tempfile.TemporaryDirectory() as folder:
        api = Recorder(base_url=engine.info.address.replace("unix:", "unix://", 1), version="auto", max_pool_size=64)
        recorded = Engine(api)
        images = {
            name: ensure(engine.api, name, cache=image_cache(), images_dir=ROOT / "images", report=say)
            for name in IMAGES
        }
        rig = make_rig(recorded, images, Path(folder), "perf")
        task, record = small_task(), rig.run(Manifest(name="reference", driver=DriverKind.REFERENCE))
        regrader = Regrader(
            engine=recorded,
            images=images,
            store=rig.store,
            cores=Cores(range(engine.info.cpus)),
            owner="perf",
            scanner=open_scanner(recorded, images["scanner"], rig.store, rig.tools.cache, "perf"),
        )
        regrader.redo(record, task)  # the scanner's answers are remembered from here on, as in a card of many attempts
        with recording(api) as steps:
            regrader.redo(record, task)
        api.steps = []
        ok = True
        for at_once in (1, engine.info.cpus):
            ours, bare = [], []
            with ThreadPoolExecutor(at_once) as pool:
                for _ in range(ROUNDS):
                    ours.append(_batch(pool, at_once, lambda: regrader.redo(record, task)))
                    bare.append(_batch(pool, at_once, lambda: replay(api, steps)))
            ratio = statistics.median(a / b for a, b in zip(ours, bare, strict=True))
            ok &= ratio <= LIMIT
            rates = [60 / statistics.median(times) / min(at_once, engine.info.cpus) for times in (ours, bare)]
            say(
                f"regrade, {at_once} at once: {statistics.median(ours):.3f} s ({rates[0]:.0f} a minute and core), "
                f"bare lifecycles {statistics.median(bare):.3f} s ({rates[1]:.0f}), ratio {ratio:.2f} (limit {LIMIT})"
            )
    return ok


def _batch(pool: ThreadPoolExecutor, count: int, work: Callable[[], object]) -> float:
    """Seconds for each of *count* at once."""
    began = time.monotonic()
    for future in [pool.submit(work) for _ in range(count)]:
        future.result()
    return (time.monotonic() - began) / count


def main() -> int:
    """Measure; 1 if a limit was not kept."""
    return 0 if measure(print) else 1


if __name__ == "__main__":
    sys.exit(main())

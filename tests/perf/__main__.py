"""`nox -s perf`: what sealing, traces and the gateway cost, against the bare way. Speed is judged in no test.

With `gateway` as an argument only the gateway is measured, which takes half a minute and no containers; with `traces`
only the traces, and with `traces agents` those of real agents as well; with `audits` only what auditing takes; with
`regrade` only grading a stored change again; with `sealed` only an attempt against its bare containers.
With `cards` only report, compare and verify on cards of 100,000 attempts, which take minutes and several GB to make.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import ensure
from harness.scan import Scanner
from harness.scanning import open_scanner
from harness.solvers.manifest import DriverKind, Manifest
from harness.traces.hook import trace_hooks
from tests.attempt_rig import make_rig, small_task
from tests.conftest import IMAGES, ROOT, image_cache
from tests.perf import audits, comparing, gateway, regrading, reporting, traces, verifying
from tests.perf.bare import Recorder, recording, replay
from tests.perf.big_card import big_card

ROUNDS = 9
LIMIT = 1.5

_PARTS = {"agents", "audits", "cards", "gateway", "regrade", "sealed", "traces"}


def main() -> int:
    """Print the figures; 1 if one is over its limit, 2 for an argument that is none."""
    asked = sys.argv[1:]
    if unknown := set(asked) - _PARTS:
        _say(f"{', '.join(sorted(unknown))}: no such part; there are {', '.join(sorted(_PARTS))}")
        return 2
    if "sealed" in asked:
        return 0 if _sealing() else 1
    if "audits" in asked:
        return 0 if audits.measure(_say) else 1
    if "cards" in asked:
        return 0 if _cards() else 1
    if "regrade" in asked:
        return 0 if regrading.measure(_say) else 1
    ok = "traces" in asked or gateway.measure(_say)
    if "gateway" not in asked:
        ok &= traces.measure(_say, asked)
    if not asked:
        ok &= _sealing()
        ok &= audits.measure(_say)
        ok &= regrading.measure(_say)
    return 0 if ok else 1


def _cards() -> bool:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        first, second = (big_card(Path(folder) / str(seed), seed=seed, kept=seed == 0).path for seed in (0, 1))
        return all(
            [
                verifying.measure(_say, first),
                reporting.measure(_say, first),
                comparing.measure(_say, first, second),
            ]
        )


def _sealing() -> bool:
    with connect(notify=_say) as engine, tempfile.TemporaryDirectory() as folder:
        api = Recorder(base_url=engine.info.address.replace("unix:", "unix://", 1), version="auto", max_pool_size=64)
        recorded = Engine(api)
        images = {
            name: ensure(engine.api, name, cache=image_cache(), images_dir=ROOT / "images", report=_say)
            for name in IMAGES
        }
        rig = make_rig(recorded, images, Path(folder), "perf", lambda _: trace_hooks(rig.store))
        manifest = Manifest(name="reference", driver=DriverKind.REFERENCE)
        api.steps = []
        rig.run(manifest)  # the seed and the baseline are made once, and not measured
        with recording(api) as steps:
            rig.run(manifest)
        api.steps = []  # what follows is noted elsewhere, not added to what is replayed
        counts = (f"{_count(steps, kind)} {kind} calls" for kind in ("create", "volume", "exec"))
        _say(f"one attempt: {', '.join(counts)}")
        ok = True
        for concurrency in (1, 4):
            sealed, bare = _alternate(concurrency, lambda: rig.run(manifest), lambda: replay(api, steps))
            ratio = statistics.median(a / b for a, b in zip(sealed, bare, strict=True))
            ok &= ratio <= LIMIT
            _say(
                f"concurrency {concurrency}: sealed {statistics.median(sealed):.3f} s an attempt, "
                f"bare {statistics.median(bare):.3f} s, ratio {ratio:.2f} (limit {LIMIT})"
            )
        _scoring(open_scanner(recorded, images["scanner"], rig.store, rig.tools.cache, "perf"), api)
    times = [
        _seconds(
            lambda: subprocess.run([sys.executable, "-m", "trialbox.cli", "--help"], check=True, capture_output=True)
        )
        for _ in range(9)
    ]
    _say(f"trialbox --help: median {statistics.median(times):.3f} s, fastest {min(times):.3f} s (limit 0.3)")
    return ok


def _alternate(
    concurrency: int, first: Callable[[], object], second: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Seconds an attempt, in alternating batches, so that a drift of the machine meets both."""
    results: tuple[list[float], list[float]] = ([], [])
    with ThreadPoolExecutor(concurrency) as pool:
        for _ in range(ROUNDS):
            for work, times in zip((first, second), results, strict=True):
                took = _seconds(lambda work=work: [f.result() for f in [pool.submit(work) for _ in range(concurrency)]])
                times.append(took / concurrency)
    return results


def _scoring(scanner: Scanner, api: Recorder) -> None:
    """Scoring's own figure: one change scanned, against the tools started afresh for each file and side."""
    task = small_task()
    warm = Scanner(scanner.container, scanner.image, None)
    api.steps = []
    scanned = [_seconds(lambda: warm.scan(task.before, task.reference.tree)) for _ in range(3)]
    afresh = []
    script = (
        "for n in 1 2; do python3 -m bandit -q /tmp/m.py; python3 -m radon cc /tmp/m.py; "
        "python3 -m radon mi /tmp/m.py; ruff check -q --isolated --no-cache /tmp/m.py; done"
    )
    source = task.reference.tree["pkg/words.py"].data
    for _ in range(3):
        began = time.monotonic()
        with scanner.container() as box:
            box.run(("sh", "-c", f"cat > /tmp/m.py; {script}"), stdin=source, timeout_s=120, max_output=1 << 20)
        afresh.append(time.monotonic() - began)
    ours, theirs = statistics.median(scanned), statistics.median(afresh)
    _say(f"scoring one changed file: {ours:.3f} s; tools started afresh: {theirs:.3f} s, ratio {ours / theirs:.2f}")


def _seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _count(steps: list[object], kind: str) -> int:
    return sum(getattr(step, "kind", "") == kind for step in steps)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

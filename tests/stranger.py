"""`nox -s reproduce`: what a stranger gets from a bundle. Takes half an hour, so it is no test.

Every shipped suite is run with four scripted solvers and two attempts, and each card is put into a bundle. Each bundle
is then reproduced where nothing is known of it: an empty state folder, empty caches, an engine of its own without any
image, and no network at all. A table says whether each core came out the same. Arguments name suites; ``--state``
names a folder that keeps the cards, and those that are there already are taken.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SUITES = ("smoke", "functions", "repos", "releases", "parity")
SOLVERS = ("reference,noop,wrong", "command:sh -c 'echo pass > conftest.py; cat $PROMPT_FILE'")
ATTEMPTS = 2
APART = "apart"
"""The word by which this program calls itself inside namespaces of its own."""


def main(words: list[str]) -> int:
    """Make the cards, reproduce each, print the table; 1 if one core is another."""
    parser = argparse.ArgumentParser()
    parser.add_argument("suites", nargs="*", default=SUITES)
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args(words)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stranger-", dir="/var/tmp")))
        home = (asked.state or folder / "publisher").absolute()
        print(f"{'suite':<10} tasks solvers attempts cells  bundle MB  made s  again s  regraded recorded  same core")
        rows = []
        for suite in asked.suites:
            one = _row(suite, home, folder)
            rows.append(one)
            print(
                f"{one['suite']:<10} {one['tasks']:>5} {one['solvers']:>7} {one['attempts']:>8} {one['cells']:>5} "
                f"{one['bytes'] / 1e6:>10.0f} {one['made']:>7.0f} {one['again']:>8.0f} {one['regraded']:>9} "
                f"{one['recorded']:>8}  {'yes' if one['same'] else 'NO'}  {one['core'][:19]}",
                flush=True,
            )
    tasks, cells = sum(one["tasks"] for one in rows), sum(one["cells"] for one in rows)
    print(
        f"{len(rows)} suites, {tasks} tasks, {cells} cells: {sum(one['same'] for one in rows)} of {len(rows)} the same"
    )
    return 0 if all(one["same"] for one in rows) else 1


def _row(suite: str, home: Path, folder: Path) -> dict[str, Any]:
    bundle, away = folder / f"{suite}.tar", folder / f"away-{suite}"
    card = _card_of(suite, home)
    began = time.monotonic()
    made = _said(["card", "bundle", card, "--output", str(bundle), "--json"], {"TRIALBOX_HOME": str(home)})
    took = time.monotonic() - began
    away.mkdir()
    began = time.monotonic()
    apart = ["unshare", "--net", sys.executable, "-m", "tests.stranger", APART, str(away), str(bundle)]
    done = subprocess.run(apart, cwd=ROOT, stdout=subprocess.PIPE, check=False, text=True)
    again = time.monotonic() - began
    bundle.unlink()
    if not done.stdout.startswith("{") or "error" in (said := json.loads(done.stdout)):
        raise SystemExit(f"{suite}: {done.stdout}")
    shown = _said(["card", "show", card, "--json"], {"TRIALBOX_HOME": str(home)})["core"]["plan"]
    return {
        "suite": suite,
        "tasks": len(shown["tasks"]),
        "solvers": len(shown["solvers"]),
        "attempts": shown["attempts"],
        "cells": len(said["cells"]),
        "bytes": made["bytes"],
        "made": took,
        "again": again,
        "regraded": sum(one["basis"] == "regraded" for one in said["cells"]),
        "recorded": sum(one["basis"] == "recorded" for one in said["cells"]),
        "same": done.returncode == 0 and said["core_digest_here"] == made["core_digest"],
        "core": made["core_digest"],
    }


def _card_of(suite: str, home: Path) -> str:
    environ = {"TRIALBOX_HOME": str(home)}
    for one in _said(["card", "list", "--json"], environ)["cards"] if home.is_dir() else ():
        if one.get("suite") == suite and len(one["solvers"]) == 4 and not one["partial"]:
            return str(one["id"])
    solvers = [word for text in SOLVERS for word in ("--solver", text)]
    run = ["run", suite, *solvers, "--attempts", str(ATTEMPTS), "--energy", "off", "--json"]
    return str(_said(run, environ)["card"])


def _apart(away: Path, bundle: Path) -> int:
    """In a network namespace of our own: an engine that has nothing, and the command as a stranger would type it."""
    from harness.engine.daemon import PrivateDaemon

    with _short(away) as run, PrivateDaemon(data=away / "engine", run=run).hold(keep=False, notify=_note) as url:
        environ = {
            **os.environ,
            "DOCKER_HOST": url,
            "HOME": str(away),
            "XDG_CACHE_HOME": str(away / "cache"),
            "TRIALBOX_HOME": str(away / "state"),
        }
        argv = [sys.executable, "-m", "trialbox.cli", "reproduce", str(bundle), "--json"]
        return subprocess.run(argv, cwd=away, env={**environ, "PYTHONPATH": str(ROOT)}, check=False).returncode


@contextlib.contextmanager
def _short(away: Path) -> Iterator[Path]:
    """A run folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="tbx-", dir="/run", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / away.name[:12]


def _said(words: list[str], environ: dict[str, str]) -> Any:
    argv = [sys.executable, "-m", "trialbox.cli", *words]
    full = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(argv, env=full, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        raise SystemExit(f"trialbox {' '.join(words)}: exit {done.returncode}: {done.stdout}")
    return json.loads(done.stdout)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(_apart(Path(words[1]), Path(words[2])) if words[:1] == [APART] else main(words))

"""Small tasks of the formats that take replies, on disk, for tests that then break one thing."""

from __future__ import annotations

import json
from pathlib import Path

from tests.suites_rig import EXPOSURE, PUBLIC, write

LIMITS = """
[limits]
wall_s = 20
grade_wall_s = 30
memory_mb = 256
cpus = 1
pids = 64
workspace_mb = 48
workspace_inodes = 4000
home_mb = 8
home_inodes = 500
tmp_mb = 8
output_kb = 64
"""
HEAD = f"""
[canary]
public = "{PUBLIC}"
exposure = "{EXPOSURE}"

[provenance]
author_kind = "generated"
created = 2026-11-30
licence = "Apache-2.0"
decontaminated = true
{LIMITS}"""

FUNCTION_TOML = f"""
schema = 1
format = "function"
title = "Runs of a text"
target = "runs.py"
export = "runs"
{HEAD}
[[wrong]]
name = "counts-all"
why = "counts over the whole text"

[[wrong]]
name = "no-empty"
kind = "partial"
why = "fails on an empty text"

[[groups]]
name = "plain"
kind = "behaviour"
oracle = "cases"
file = "hidden/plain.json"

[[groups]]
name = "empty"
kind = "behaviour"
oracle = "cases"
file = "hidden/empty.json"

[[checklist]]
behaviour = "neighbours that are equal are one run"
prompt = "equal characters side by side"
groups = ["plain"]
wrong = ["counts-all"]

[[checklist]]
behaviour = "an empty text has no runs"
prompt = "An empty text gives an empty list."
groups = ["empty"]
"""

RUNS = """
def runs(text: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for letter in text:
        if found and found[-1][0] == letter:
            found[-1] = (letter, found[-1][1] + 1)
        else:
            found.append((letter, 1))
    return found
"""
RUNS_OVER_ALL = """
def runs(text: str) -> list[tuple[str, int]]:
    return [(one, text.count(one)) for one in text] or [("", 0)]
"""
RUNS_NOT_EMPTY = RUNS.replace("    found:", "    if not text:\n        raise ValueError(text)\n    found:")


def fenced(body: str, word: str = "python", fence: str = "```") -> str:
    """A reply as a worker writes one: a sentence, a block, a sentence."""
    return f"Here it is.\n\n{fence}{word}\n{body}{fence}\n\nThat should do.\n"


def _case(text: str, *expected: tuple[str, int]) -> dict[str, object]:
    return {"args": [text], "expect": [{"$tuple": list(one)} for one in expected]}


def write_function_task(folder: Path) -> Path:
    """A function to be written from nothing: two behaviour groups, a wrong and a partial candidate."""
    plain = [_case("aab", ("a", 2), ("b", 1)), _case("aba", ("a", 1), ("b", 1), ("a", 1)), _case("z", ("z", 1))]
    target = {"canary": EXPOSURE, "target": "runs:runs"}
    write(
        folder,
        {
            "task.toml": FUNCTION_TOML,
            "issue.md": "Write runs(text) in runs.py: equal characters\nside by side are one run. "
            "An empty text gives an empty list.\n",
            "reference/reply.md": fenced(RUNS),
            "wrong/counts-all/reply.md": fenced(RUNS_OVER_ALL),
            "wrong/no-empty/reply.md": fenced(RUNS_NOT_EMPTY),
            "hidden/plain.json": json.dumps({**target, "cases": plain}),
            "hidden/empty.json": json.dumps({**target, "cases": [_case("")]}),
        },
    )
    return folder


PATCH_TOML = f"""
schema = 1
format = "patch"
title = "Tolls"
budget_lines = 6
{HEAD}
[[wrong]]
name = "always-free"
kind = "breaker"
why = "lets everybody through"

[[groups]]
name = "carts"
kind = "behaviour"
oracle = "cases"
file = "hidden/carts.json"

[[groups]]
name = "walkers"
kind = "regression"
oracle = "cases"
file = "hidden/walkers.json"
"""

TOLL = """NAMES = ("walker", "cart")


def toll(kind, loads):
    if kind == "walker":
        return 1
    return 2


def total(kinds):
    return sum(toll(kind, 0) for kind in kinds)
"""
GOOD_DIFF = """--- a/bridge/toll.py
+++ b/bridge/toll.py
@@ -4,7 +4,7 @@
 def toll(kind, loads):
     if kind == "walker":
         return 1
-    return 2
+    return 2 + loads


 def total(kinds):
"""
BREAKING_DIFF = """--- a/bridge/toll.py
+++ b/bridge/toll.py
@@ -2,8 +2,8 @@


 def toll(kind, loads):
     if kind == "walker":
-        return 1
-    return 2
+        return 0
+    return 2 + loads


 def total(kinds):
"""


def write_patch_task(folder: Path) -> Path:
    """A module to be mended by a diff: a behaviour and a regression group, a breaker, a budget of six lines."""
    target = {"canary": EXPOSURE, "target": "bridge.toll:toll"}
    carts = [{"args": ["cart", loads], "expect": 2 + loads} for loads in (1, 2, 5)]
    write(
        folder,
        {
            "task.toml": PATCH_TOML,
            "issue.md": "A cart pays one more for each load.\n",
            "before/bridge/__init__.py": "",
            "before/bridge/toll.py": TOLL,
            "reference/reply.md": fenced(GOOD_DIFF, "diff"),
            "wrong/always-free/reply.md": fenced(BREAKING_DIFF, "patch"),
            "hidden/carts.json": json.dumps({**target, "cases": carts}),
            "hidden/walkers.json": json.dumps({**target, "cases": [{"args": ["walker", 3], "expect": 1}]}),
        },
    )
    return folder

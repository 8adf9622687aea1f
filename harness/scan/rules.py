"""The harness-owned rule set and limits of the scan. The candidate's own configuration never applies.

``SETTINGS`` is sent to the service as its first line and belongs to the scoring formula's digest.
"""

from __future__ import annotations

from typing import Final

SELECT: Final = ("B", "BLE", "C4", "E4", "E7", "E9", "F", "N", "PLE", "PLW", "RET", "SIM")
"""Ruff's rule families: mistakes and needless code, nothing that is layout, typing or taste in comments."""

FORMAT: Final = (
    "--isolated",
    "--no-cache",
    "--quiet",
    "--target-version=py313",
    "--line-length=88",
    "--config=format.skip-magic-trailing-comma=true",
)
CHECK: Final = (
    "--isolated",
    "--no-cache",
    "--quiet",
    "--no-fix",
    "--no-preview",
    "--ignore-noqa",
    "--exit-zero",
    "--output-format=json",
    "--target-version=py313",
    f"--select={','.join(SELECT)}",
    "--per-file-ignores=__init__.py:F401",
)

LIMITS: Final[dict[str, int]] = {
    "file_bytes": 1 << 20,
    "cpu_s": 10,
    # Processor time decides, so that a busy host gives the same answer; the wall limit is only a backstop.
    "wall_s": 60,
    "memory_bytes": 512 << 20,
    "output_bytes": 32 << 20,
    "batch_s": 300,
    # What the tools say of a file takes a hundred times its size in memory here.
    "change_bytes": 4 << 20,
}
MAX_FILES: Final = 400
"""Changed Python files in one candidate; beyond it, or ``change_bytes`` of both sides, Q and S are unavailable."""

BATCH_BYTES: Final = 8 << 20
"""Source bytes in one call of the service."""

SETTINGS: Final[dict[str, str | int | tuple[str, ...]]] = {"ruff": "ruff", "format": FORMAT, "check": CHECK, **LIMITS}

"""What every card must say of itself, whatever its figures."""

from __future__ import annotations

from harness.records import RunMode
from harness.suites.groups import Trust

LIMITS = (
    "Scores are indicators of work on these tasks, not of readiness for production.",
    "A clean audit means: clean in the evidence that was available; see the coverage of each channel.",
    "Measured values (energy, time, resources) and the account of how the run was made are vouched for by its publisher"
    " alone; the core can be checked by anyone.",
    "Energy is this host's over its idle draw; a remote model's energy is unknown, not zero. An estimator's figure is"
    " wall time times an assumed coefficient, not a measurement; ~ marks a figure that is not reliable.",
)

DRY_RUN = "This was a dry run: no provider was called, and its figures say nothing about a model."

TRUST = {
    Trust.HOST_HELD: "expected values never entered a container; the host compared what came out",
    Trust.IN_PROCESS: "expectations ran beside the candidate's code, guarded by sentinels; a clever one could lie",
    Trust.EXIT_STATUS: "a command's exit status, which any candidate can choose",
}
"""How far a verdict can be believed against a candidate that lies."""


def limits(mode: RunMode) -> tuple[str, ...]:
    """The lines for a card of this mode."""
    return (*LIMITS, DRY_RUN) if mode is RunMode.DRY else LIMITS

"""What every card must say of itself, whatever its figures."""

from __future__ import annotations

from collections.abc import Container

from harness.records import ExecutionMode, Plan, RunMode
from harness.suites.groups import Trust
from harness.suites.lock import Standing

LIMITS = (
    "Scores are indicators of work on these tasks, not of readiness for production; to pass every task is not yet 100.",
    "A model's review is not a human rating, and agreement between models is not validation by a human.",
    "A clean audit means: clean in the evidence that was available; see the coverage of each channel.",
    "Whether a model has seen a task before can't be shown by its absence: dates and provenance are all there is.",
    "Measured values (energy, time, resources, tokens, money), receipts and the account of how the run was made are"
    " vouched for by its publisher alone; the core can be checked by anyone.",
    "The same patch in the same environment gives the same verdict; a new run of a model may differ.",
    "Results of another suite version, hardware or harness version are not comparable without qualification.",
    "Labels of effort are their vendors' own and not comparable across vendors.",
    "Energy is this host's over its idle draw; a remote model's energy is unknown, not zero. An estimator's figure is"
    " wall time times an assumed coefficient, not a measurement; ~ marks a figure that is not reliable.",
)
"""On every card."""

PARTIAL = "Tasks of the suite were left out: this is no result of the suite."

GLOSSARY = {
    "pass@1": "the share of tasks solved by one attempt; with several, each task's success rate, averaged over tasks",
    "pass@k": "the chance that at least one of k attempts at a task solves it, estimated without bias, over tasks",
    "pass^k": "the chance that all of k attempts at a task solve it, estimated without bias, over tasks",
    "effort": "how much a model is told to think, in its vendor's own words, which do not compare across vendors",
    "decontamination": "keeping out of a suite what a model may have seen, as far as dates of publication can tell",
    "parity": "tasks that ask for a program that behaves as a given binary does, though its specification has drifted",
    "frontier difficulty": "of a task that strong reference solvers do not solve reliably, or only slowly",
    "routing": "a harness's choice among several models while it works on one task; the models served are listed",
    "hidden tests": "checks that no solver can see: they are nowhere in its container",
}
"""Terms of a card, in plain words."""

SUITE_LOCK = {
    Standing.LOCKED: "the suite is what its version was locked as",
    Standing.CHANGED: "the suite is not what its version was locked as; not publishable",
    Standing.UNLOCKED: "nobody locked the suite's version; its hash alone says what it is",
}
"""How a suite lies to its lock."""

DRY_RUN = "This was a dry run: no provider was called, and its figures say nothing about a model."

FOREIGN_PATCH = (
    "The patches were made elsewhere and graded here: who made them, with what, in what time and at what cost, and"
    " whether they were sealed, is not known; time, tokens and energy are null."
)

NOT_LOCKED = "Tasks run in images of the publisher's engine, pinned by its own ids; no lock makes them anew: "

TRUST = {
    Trust.HOST_HELD: "expected values never entered a container; the host compared what came out",
    Trust.IN_PROCESS: "expectations ran beside the candidate's code, guarded by sentinels; a clever one could lie",
    Trust.IN_TREE: "tests ran in the candidate's own tree with its conftest and settings; either could lie",
    Trust.REPORTED: "a script's printed report, into which the candidate's code can print as well",
    Trust.EXIT_STATUS: "a command's exit status, which any candidate can choose",
    Trust.REWARD_FILE: "a number in a file that the candidate's code can write as well",
}
"""How far a verdict can be believed against a candidate that lies."""


def limits(plan: Plan, modes: Container[ExecutionMode]) -> tuple[str, ...]:
    """The lines for a card of this plan, whose attempts came about in these ways."""
    unlocked = sorted(image.name for image in plan.images if not image.locked)
    return (
        *LIMITS,
        *((PARTIAL,) if plan.partial else ()),
        *((DRY_RUN,) if plan.mode is RunMode.DRY else ()),
        *((FOREIGN_PATCH,) if ExecutionMode.FOREIGN_PATCH in modes else ()),
        *((NOT_LOCKED + ", ".join(unlocked) + ".",) if unlocked else ()),
    )

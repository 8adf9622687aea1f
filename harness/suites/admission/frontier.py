"""Whether a task is hard for the two reference solvers, from recorded attempts alone. Pure.

The rule is VulcanBench's: three attempts for each role under its own harness; hard if A solves at most one of three and
B needs at least ten minutes in the median or fails at least once. It says nothing until all six are there, and it is
a measurement at admission, not a promise.

Whose attempt it was is what the gateway saw: the model that the provider says it served, not the one that a manifest
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from statistics import median

from harness.errors import UserError
from harness.evidence import AttemptRecord
from harness.gateway.records import TraceLine
from harness.model_names import bare, names_model
from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Microseconds, Record, SolverRef
from harness.solvers.agent import MODEL_PATTERN
from harness.solvers.manifest import DriverKind
from harness.traffic import answered, billed

ATTEMPTS = 3
"""Attempts of each role; more are not looked at, so that nobody can repeat until it fits."""

MOST_SOLVED_BY_A = 1
LEAST_MEDIAN_OF_B_US = 600 * 1_000_000
_HARNESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,99}")
_ASKING = frozenset(kind.value for kind in DriverKind if kind.asks_model)


class Role(StrEnum):
    """The two reference solvers."""

    A = "a"
    B = "b"


class Reference(Record):
    """Who plays a role: a model by the id that it is served under, and its own harness by the manifest's name."""

    harness: str
    model: str
    title: str = ""
    """The model as a reader knows it."""

    def __str__(self) -> str:
        who = f"{self.model} under {self.harness}"
        return f"{self.title}: {who}" if self.title else who

    @classmethod
    def read(cls, text: str, option: str) -> Reference:
        """From ``HARNESS:model=ID``.

        Raises:
            UserError: it is not of that form.
        """
        harness, _, model = text.partition(":model=")
        if not _HARNESS.fullmatch(harness) or not re.fullmatch(MODEL_PATTERN, model):
            raise UserError(option, f"{text!r} is no reference solver", "write it as in codex:model=gpt-5.6-sol")
        known = [one for one in DEFAULTS.values() if (one.harness, one.model) == (harness, bare(model))]
        return known[0] if known else cls(harness=harness, model=bare(model))

    def plays(self, solver: SolverRef) -> bool:
        """Whether a solver of a plan is meant to be this one: it asks a model, that one, under that harness."""
        own = solver.kind in _ASKING and solver.harness == self.harness
        return own and names_model(solver.model, self.model)

    def served(self, lines: Sequence[TraceLine]) -> str | None:
        """What the provider served where this model was asked for; None if nothing, or another model in some answer.

        What an agent asks of its side models says nothing here.
        """
        asked = [
            (line.request.model, line.answer.model)
            for line in billed(lines)
            if answered(line) and line.request and line.request.model and line.answer and line.answer.model
        ]
        names = {bare(served) for wanted, served in asked if names_model(wanted, self.model)}
        return ", ".join(sorted(names)) if names and all(names_model(one, self.model) for one in names) else None


References = Mapping[Role, Reference]
DEFAULTS: References = {
    Role.A: Reference(harness="codex", model="gpt-5.6-sol", title="GPT 5.6 Sol"),
    Role.B: Reference(harness="claude-code", model="claude-opus-5", title="Claude Opus 5"),
}


class Status(StrEnum):
    """Whether the rule could be applied."""

    MEASURED = "measured"
    NOT_MEASURED = "not_measured"


class ReferenceAttempt(Record):
    """One attempt by a reference solver, in the order they were made."""

    role: Role
    model: str
    """As the provider says that it served it."""
    harness: str
    """With its version."""
    provider: str
    solved: bool
    wall_us: Microseconds


class Frontier(Record):
    """What the rule says; everything but ``reason`` and ``attempts`` is None where it was not measured."""

    status: Status
    reason: str
    """Why it was not measured; empty if it was."""
    frontier: bool | None
    solved_by_a: Count | None
    failed_by_b: Count | None
    median_of_b_us: Microseconds | None
    attempts: tuple[ReferenceAttempt, ...]


def references_of(a: str | None, b: str | None) -> References:
    """Who plays the roles: the defaults where nobody is named.

    Raises:
        UserError: a text is not of the form, or one solver has both roles.
    """
    found = {
        Role.A: DEFAULTS[Role.A] if a is None else Reference.read(a, "--reference-a"),
        Role.B: DEFAULTS[Role.B] if b is None else Reference.read(b, "--reference-b"),
    }
    if found[Role.A] == found[Role.B]:
        option = "--reference-a" if b is None else "--reference-b"
        raise UserError(option, "is the other reference solver as well", "name two that differ")
    return found


def frontier(attempts: Iterable[ReferenceAttempt], references: References = DEFAULTS) -> Frontier:
    """Apply the rule to the first three attempts of each role; *references* say who was to make them."""
    by_role: dict[Role, list[ReferenceAttempt]] = {role: [] for role in Role}
    for one in attempts:
        if len(by_role[one.role]) < ATTEMPTS:
            by_role[one.role].append(one)
    used = tuple(one for role in Role for one in by_role[role])
    reason = _incomplete(by_role, references)
    if reason:
        return Frontier(
            status=Status.NOT_MEASURED,
            reason=reason,
            frontier=None,
            solved_by_a=None,
            failed_by_b=None,
            median_of_b_us=None,
            attempts=used,
        )
    solved_by_a = sum(one.solved for one in by_role[Role.A])
    failed_by_b = sum(not one.solved for one in by_role[Role.B])
    median_of_b_us = int(median(one.wall_us for one in by_role[Role.B]))
    hard_for_b = median_of_b_us >= LEAST_MEDIAN_OF_B_US or failed_by_b >= 1
    return Frontier(
        status=Status.MEASURED,
        reason="",
        frontier=solved_by_a <= MOST_SOLVED_BY_A and hard_for_b,
        solved_by_a=solved_by_a,
        failed_by_b=failed_by_b,
        median_of_b_us=median_of_b_us,
        attempts=used,
    )


def reference_attempt(
    references: References, solver: SolverRef, record: AttemptRecord, lines: Sequence[TraceLine]
) -> ReferenceAttempt | None:
    """A recorded attempt of a real run as a reference solver's; None if it is none's, or does not count.

    Args:
        references: who plays the roles.
        solver: who was planned to make it.
        record: the attempt.
        lines: its whole web trace; none where there is none, or only a part.
    """
    if not in_denominator(record.outcome) or record.solve is None:
        return None
    for role, reference in references.items():
        served = reference.served(lines) if reference.plays(solver) else None
        if served is not None:
            return ReferenceAttempt(
                role=role,
                model=served,
                harness=f"{solver.harness} {solver.harness_version}",
                provider=solver.provider or "unknown",
                solved=record.outcome is Outcome.SOLVED,
                wall_us=record.solve.wall_us,
            )
    return None


def _incomplete(by_role: Mapping[Role, Sequence[ReferenceAttempt]], references: References) -> str:
    for role, made in by_role.items():
        if len(made) < ATTEMPTS:
            return (
                f"{len(made)} of {ATTEMPTS} attempts of reference solver {role.value} ({references[role]}) are recorded"
            )
        if len({(one.model, one.harness) for one in made}) > 1:
            return f"the attempts of reference solver {role.value} are not of one model under one harness"
    return ""

"""The solvers that come with every task: the ceiling, the floor, and the plausible mistakes.

Their candidate comes from inside the container as the solver's own work would: written to the workspace, or printed as
a reply, by a process of the agent's user, after the seal and inside the energy bracket.
"""

from __future__ import annotations

from harness.errors import UserError
from harness.outcomes import Ending
from harness.solvers import Driver, SolveContext, Solved
from harness.suites.formats.common import CandidateKind
from harness.suites.task import Candidate, Task
from harness.workspace import pack

_WRITE = 'for path in "$@"; do rm -f -- "$path"; done; exec tar --extract --file=- --no-same-owner --overwrite'


def reference(context: SolveContext) -> Solved:
    """Answer with the task's known-good fix."""
    return _answer(context, context.task.reference)


def noop(context: SolveContext) -> Solved:
    """Touch nothing."""
    return run_program(context, ("true",), b"")


def scripted(kind: CandidateKind, name: str | None) -> Driver:
    """Answer with one of the task's candidates that are not right (see :func:`candidate_of`)."""

    def drive(context: SolveContext) -> Solved:
        return _answer(context, candidate_of(context.task, kind, name))

    return drive


def candidate_of(task: Task, kind: CandidateKind, name: str | None) -> Candidate:
    """A task's candidate of one kind: the named one, else the first by name.

    Raises:
        UserError: the task has none of that name and kind, or none of that kind at all.
    """
    found = sorted((one for one in task.wrong if one.kind is kind), key=lambda one: one.name)
    chosen = next((one for one in found if name in {None, one.name}), None)
    if chosen is None:
        names = ", ".join(one.name for one in found) or "none"
        problem = f"has no {kind.value} candidate {name!r}" if name else f"has no {kind.value} candidate"
        raise UserError(f"task {task.id}", problem, f"it has: {names}; leave the task or the solver out")
    return chosen


def _answer(context: SolveContext, candidate: Candidate) -> Solved:
    if candidate.reply is not None:
        return run_program(context, ("cat",), candidate.reply.encode())
    return run_program(context, ("sh", "-c", _WRITE, "sh", *candidate.delete), pack(candidate.overlay))


def run_program(context: SolveContext, argv: tuple[str, ...], stdin: bytes) -> Solved:
    """Run one program as the solver, to its end or the deadline."""
    result = context.sandbox.run(
        argv, stdin=stdin, timeout_s=context.timeout_s, max_output=context.max_output, env=context.env
    )
    return Solved(
        argv=argv,
        ending=Ending.WALL_LIMIT if result.timed_out else Ending.COMPLETED,
        exit_status=result.exit_status,
        stdout=result.stdout,
        stderr=result.stderr,
        dropped=result.dropped,
    )


__all__ = ["candidate_of", "noop", "reference", "run_program", "scripted"]

"""What can go wrong, as the few kinds that a user can act on.

Each kind carries its documented exit code. A message is one line that names the place, the problem and the remedy;
nothing below the command line prints or exits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

GO_ON = "repeat the command; a run that had begun goes on with `trialbox run --resume latest`"
"""The end of a remedy, where a command may have been cut short before or after its run began."""


class ExitCode(IntEnum):
    """The command's exit codes: a contract with scripts."""

    DONE = 0
    NO = 1
    """The answer is no: not verified, not admitted, not reproduced."""
    USER = 2
    """A user's mistake: bad file, bad option, wrong name."""
    INFRA = 3
    """The engine, the disk or the state folder failed."""
    GATE = 4
    """Refused by a gate: spend, compare, publish, isolation."""
    INTERRUPTED = 130
    """Interrupted; the run can be resumed."""


class TrialboxError(Exception):
    """Base of everything the product raises on purpose.

    Args:
        where: the file, field, option or part at fault.
        problem: what is wrong, in a few words.
        remedy: what the user can do about it.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INFRA

    def __init__(self, where: str, problem: str, remedy: str = "") -> None:
        self.where = where
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{where}: {problem}" + (f"; {remedy}" if remedy else ""))


class UserError(TrialboxError):
    """The user gave something that cannot be used."""

    exit_code = ExitCode.USER


class InfraError(TrialboxError):
    """The engine, the host or the state folder failed; the same call may succeed later."""

    exit_code = ExitCode.INFRA


class EngineGone(InfraError):
    """The container engine stopped answering."""


class StorageError(InfraError):
    """The state folder can't be written or read: full, read-only or damaged."""


class GateError(TrialboxError):
    """A gate refused: isolation, spend, compare or publish."""

    exit_code = ExitCode.GATE


class VerifyError(TrialboxError):
    """Stored material does not match its digest.

    Never the code of an answer: a command that is given the material makes a :class:`UserError` of it (or, where it was
    asked whether the material is whole, :class:`NotWhole`); elsewhere it is the state folder's or the engine's.
    """

    exit_code = ExitCode.INFRA


class NotWhole(TrialboxError):
    """What was asked about is damaged: the answer of who was asked just that."""

    exit_code = ExitCode.NO

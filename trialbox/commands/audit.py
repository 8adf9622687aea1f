"""``trialbox audit``: what stored evidence, or somebody's trajectory, says of contamination and tampering."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ExitCode, InfraError, UserError
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import say


class AuditOptions(Options):
    """What ``audit`` takes."""

    name: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    about = "a run, a card, a card file, latest (default), or a trajectory's file"
    parser.add_argument("name", metavar="RUN|CARD|TRAJECTORY", nargs="?", default="latest", help=about)


def audit(options: AuditOptions) -> ExitCode:
    """Audit stored evidence, or a trajectory: 0 if no attack is found, 1 if one is.

    A run or card: every attempt's verdict on files, web, grading and submitter, with the lines that it cites; passed or
    not by clean or contaminated; and how much of each channel was watched. A trajectory (ATIF, Claude Code, Codex,
    mini-swe-agent, SWE-agent, chat messages, or any other JSON): what its calls were after. No engine is needed.
    """
    path = Path(options.name)
    if path.is_file() and not _is_card(path):
        return _file(path, options)
    if not path.is_file() and path.exists() and ("/" in options.name or path.suffix in _SUFFIXES):
        raise UserError(options.name, "is no regular file", "give a file, a run, a card or latest")
    if not path.is_file() and options.name not in {".", ".."} and ("/" in options.name or path.suffix in _SUFFIXES):
        raise UserError(options.name, "there is no such file", "give a file, a run, a card or latest")
    return _stored(options)


_SUFFIXES = {".json", ".jsonl", ".traj", ".log", ".ndjson", ".txt"}


def _file(path: Path, options: AuditOptions) -> ExitCode:
    from audits.records import attack
    from audits.trajectory import audit_trajectory
    from harness.records import to_value
    from scoring.report.audit_report import trajectory_report
    from trialbox import console, places
    from trialbox.canaries import known_canaries

    try:
        with path.open("rb") as file:
            found = audit_trajectory(file.read, known_canaries(places.data_folder("tasks")))
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error
    attacked = any(attack(one.found) for one in found.axes.values())
    if options.as_json:
        say({"file": str(path), "attack": attacked, "audit": to_value(found)})
    else:
        console.show(trajectory_report(found, path.name))
    return ExitCode.NO if attacked else ExitCode.DONE


def _stored(options: AuditOptions) -> ExitCode:
    from audits.records import attack
    from harness.records import to_value
    from scoring.report.audit_report import run_report
    from trialbox import console
    from trialbox.auditing import audit_stored

    found = audit_stored(options.name)
    attacked = any(attack(one.found) for attempt in found.audit.attempts for one in attempt.axes.values())
    if options.as_json:
        same = None if found.stamped is None else found.stamped == found.digest
        say(
            {
                "of": found.name,
                "attack": attacked,
                "digest": found.digest,
                "as_stamped": same,
                "audit": to_value(found.audit),
            }
        )
    else:
        console.show(run_report(found.audit, found.name, found.digest, found.stamped))
    return ExitCode.NO if attacked else ExitCode.DONE


def _is_card(path: Path) -> bool:
    """Whether a file begins as a card does; what it is worth is for whoever reads it."""
    with path.open("rb") as file:
        head = file.read(200)
    return head.startswith(b'{"core":{')


COMMAND = Command("audit", audit, AuditOptions, declare)

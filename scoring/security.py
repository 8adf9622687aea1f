"""S: new findings of bandit, by severity. Defined in docs/scoring-method.md."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import PurePosixPath

from harness.scan.records import Finding, ScannedFile, ScanRecord, Severity, Side
from scoring.delta import first_trouble, new, nothing_to_measure, touched
from scoring.factor import Factor, clamp, factor, no_factor
from scoring.figures import known

PENALTY = {Severity.HIGH: Fraction(40, 100), Severity.MEDIUM: Fraction(15, 100), Severity.LOW: Fraction(5, 100)}
ASSERT = "B101"


def security(scan: ScanRecord | None) -> Factor:
    """S of one change; without a scan there is none."""
    if scan is None:
        return no_factor("the change was not scanned")
    reason = nothing_to_measure(scan)
    if reason is not None:
        return no_factor(reason)
    files = touched(scan)
    trouble = first_trouble(files, lambda side: side.findings_trouble)
    if trouble is not None:
        return no_factor(trouble)
    found = new(
        Counter(_key(finding) for one in files for finding in _counted(one, one.before)),
        Counter(_key(finding) for one in files for finding in _counted(one, one.after)),
    )
    counts = {level: sum(n for (_, severity, _), n in found.items() if severity is level) for level in Severity}
    penalty = sum((PENALTY[level] * counts[level] for level in Severity), Fraction(0))
    return factor(
        clamp(1 - penalty), {f"new_{level.value.lower()}": known(Fraction(counts[level])) for level in Severity}
    )


def _counted(one: ScannedFile, side: Side | None) -> tuple[Finding, ...]:
    """A side's findings; asserts are what a test file is made of."""
    findings = (side.findings or ()) if side is not None else ()
    return tuple(f for f in findings if f.test != ASSERT) if is_test(one.path) else findings


def _key(finding: Finding) -> tuple[str, Severity, str]:
    return finding.test, finding.severity, finding.line


def is_test(path: str) -> bool:
    """Whether a path is a test file: ``test_*.py``, ``*_test.py``, ``conftest.py``, or in a folder ``test(s)``."""
    pure = PurePosixPath(path)
    named = pure.name.startswith("test_") or pure.name.endswith("_test.py") or pure.name == "conftest.py"
    return named or bool({"test", "tests"} & set(pure.parts[:-1]))

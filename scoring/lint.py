"""Q: new lint violations, complexity of changed functions, and maintainability after minus before.

Defined in docs/scoring-method.md; every figure is a fraction of integers of the scan, but for the maintainability
index, which has logarithms and is rounded to six places by exact decimal arithmetic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from harness.scan.records import Metrics, ScannedFile, ScanRecord, Side, Unit
from scoring.delta import first_trouble, new, nothing_to_measure, sides, touched
from scoring.factor import Factor, clamp, factor, no_factor
from scoring.figures import Figure, known, missing

WEIGHTS = {"lint": Fraction(4, 10), "complexity": Fraction(3, 10), "maintainability": Fraction(3, 10)}
DENSITY_AT_ZERO = Fraction(1, 2)
"""New violations per added line at which lint is 0."""
COMPLEXITY_FREE = 5
COMPLEXITY_SPAN = 20
"""Mean excess over the free complexity at which complexity is 0."""

_CONTEXT = Context(prec=50, rounding=ROUND_HALF_EVEN)
_SIX_PLACES = Decimal("0.000001")


def quality(scan: ScanRecord | None) -> Factor:
    """Q of one change; without a scan there is none."""
    if scan is None:
        return no_factor("the change was not scanned")
    reason = nothing_to_measure(scan)
    if reason is not None:
        return no_factor(reason)
    files = touched(scan)
    parts = {"lint": _lint(files), "complexity": _complexity(files), "maintainability": _maintainability(files)}
    shown = {name: missing(part) if isinstance(part, str) else known(part) for name, part in parts.items()}
    return _weigh(parts, shown)


def _weigh(parts: dict[str, Fraction | str], shown: dict[str, Figure]) -> Factor:
    total = Fraction(0)
    for name, part in parts.items():
        if isinstance(part, str):
            return no_factor(f"{name}: {part}", shown)
        total += WEIGHTS[name] * part
    return factor(total, shown)


def _lint(files: Sequence[ScannedFile]) -> Fraction | str:
    """New violations by (rule, line) over added lines."""
    trouble = first_trouble(files, lambda side: side.violations_trouble)
    if trouble is not None:
        return trouble
    violations = new(
        Counter((v.rule, v.line) for one in files if one.before for v in one.before.violations or ()),
        Counter((v.rule, v.line) for one in files if one.after for v in one.after.violations or ()),
    ).total()
    added = new(
        Counter(line for one in files if one.before for line in one.before.lines),
        Counter(line for one in files if one.after for line in one.after.lines),
    ).total()
    return clamp(1 - Fraction(violations, max(added, 1)) / DENSITY_AT_ZERO)


def _complexity(files: Sequence[ScannedFile]) -> Fraction | str:
    """Mean excess complexity of the changed functions; what a function already had is free."""
    trouble = first_trouble(files, lambda side: side.metrics_trouble)
    if trouble is not None:
        return trouble
    had = {(one.path, unit.name): unit.complexity for one in files for unit in _units(one.before)}
    gone: dict[str, int] = {}
    for one in files:
        if one.after is None:
            for unit in _units(one.before):
                gone[unit.name] = max(gone.get(unit.name, 0), unit.complexity)
    same = Counter((unit.name, unit.code) for one in files for unit in _units(one.before))
    excess = []
    for one in files:
        for unit in _units(one.after):
            if same[unit.name, unit.code] > 0:
                same[unit.name, unit.code] -= 1
                continue
            before = had.get((one.path, unit.name), gone.get(unit.name, 0))
            excess.append(max(0, unit.complexity - max(COMPLEXITY_FREE, before)))
    return clamp(1 - Fraction(sum(excess), max(len(excess), 1)) / COMPLEXITY_SPAN)


def _units(side: Side | None) -> tuple[Unit, ...]:
    return side.metrics.units if side is not None and side.metrics is not None else ()


def _maintainability(files: Sequence[ScannedFile]) -> Fraction | str:
    """The mean index after minus the mean index before, weighted by lines; 1 unless it fell."""
    trouble = first_trouble(files, lambda side: side.metrics_trouble)
    if trouble is not None:
        return trouble
    return clamp(1 + (_mean_index(files, "after") - _mean_index(files, "before")) / 100)


def _mean_index(files: Sequence[ScannedFile], which: str) -> Fraction:
    """In 0..100; a change without a line on that side has nothing to maintain there and gets 100."""
    weighted = lines = Fraction(0)
    for _, name, side in sides(files):
        if name == which and side.metrics is not None:
            weighted += len(side.lines) * Fraction(maintainability_index(side.metrics))
            lines += len(side.lines)
    return weighted / lines if lines else Fraction(100)


def maintainability_index(metrics: Metrics) -> Decimal:
    """Radon's index without its bonus for comments, in 0..100, to six places, half to even.

    ``100 (171 - 5.2 ln V - 0.23 G - 16.2 ln L) / 171`` with V the Halstead volume (length times log2 of vocabulary), G
    the complexity of the file and L its statements, V and L at least 1. (Radon says 100 where V is 0; then a file's
    first operator would cost more than its next hundred lines.) Decimal logarithms are correctly rounded, so every
    machine gives the same digits.
    """
    complexity = 1 + sum(unit.complexity - 1 for unit in metrics.units)
    ln = _CONTEXT.ln
    bits = _CONTEXT.divide(ln(Decimal(max(metrics.halstead_vocabulary, 1))), ln(Decimal(2)))
    volume = max(_CONTEXT.multiply(Decimal(metrics.halstead_length), bits), Decimal(1))
    statements = Decimal(max(metrics.statements, 1))
    index = Decimal(171)
    for weight, term in (("5.2", ln(volume)), ("0.23", Decimal(complexity)), ("16.2", ln(statements))):
        index = _CONTEXT.subtract(index, _CONTEXT.multiply(Decimal(weight), term))
    percent = _CONTEXT.divide(_CONTEXT.multiply(index, Decimal(100)), Decimal(171))
    return _CONTEXT.quantize(min(max(percent, Decimal(0)), Decimal(100)), _SIX_PLACES)

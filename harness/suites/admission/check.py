"""One task through every clause of admission, to a record that says what was seen and what stands against it.

The reference, the base and the ladder come first: without them no later figure means anything, so a task whose
reference fails or whose base passes is not looked at further.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.digest import digest, sha256_bytes
from harness.errors import UserError
from harness.evidence import AttemptRecord
from harness.records import TaskRef
from harness.replies import candidate_tree
from harness.solvers.manifest import DriverKind, Manifest
from harness.suites.admission.bench import Bench
from harness.suites.admission.frontier import Frontier
from harness.suites.admission.ladder import ends_wrongly, f_of, out_of_order, rung, separation
from harness.suites.admission.leaks import Search, needles_of
from harness.suites.admission.lint import lint, unshown
from harness.suites.admission.mutation import Mutating
from harness.suites.admission.records import Admission, FollowUpResult, Grading, Leaks, SpecLint, failures, spelled
from harness.suites.admission.repeats import (
    REPEATS,
    base_faults,
    reference_faults,
    spread,
    timing,
    timing_faults,
)
from harness.suites.admission.surroundings import Varying, purity_faults
from harness.suites.formats.authored import AuthoredTask
from harness.suites.groups import GroupKind
from harness.suites.parity_sweep import images_for, measure
from harness.suites.task import Suite, Task
from harness.suites.tree import Tree


@dataclass(frozen=True)
class Subject:
    """A task, its identity, the suite it stands in, and what is recorded of reference solvers."""

    task: Task
    ref: TaskRef
    suite: Suite
    frontier: Frontier


@dataclass
class _Found:
    """Figures by the names of :class:`Admission`'s fields, and what stands against the task."""

    figures: dict[str, Any] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def against(self, clause: str, faults: Iterable[str]) -> None:
        """Note faults under a clause's name."""
        self.reasons += [f"{clause}: {fault}" for fault in faults]


@cache
def rules() -> str:
    """The digest of the code of admission, of the sweeps and of the needles: another rule, operator or constant in it
    makes earlier results be made anew.
    """
    suites = Path(__file__).parents[1]
    needles = suites.with_name("oracles") / "needles.py"
    files = [*suites.glob("admission/*.py"), suites / "parity_sweep.py", *suites.glob("inside/*.py"), needles]
    named = sorted((str(path.relative_to(suites.parent)), path) for path in files)
    return digest([[name, sha256_bytes(path.read_bytes())] for name, path in named])


def check_task(subject: Subject, bench: Bench) -> Admission:
    """Check one task.

    Raises:
        InfraError: the engine failed; nothing is said about the task.
    """
    began = time.monotonic_ns()
    task, found = subject.task, _Found()
    try:
        _examine(subject, candidate_tree(task, task.reference, bench.tools), bench, found)
    except UserError as error:  # a diff that does not apply, a program that does not compile
        found.against("mistake", [str(error)])
    images = {name: bench.tools.images[name].ref for name in task.images}
    return Admission(
        id=task.id,
        suite=subject.suite.name,
        version=subject.suite.version,
        format=task.spec.format,
        score_hash=subject.ref.score_hash,
        authoring_hash=subject.ref.authoring_hash,
        images=tuple(images[name] for name in sorted(images)),
        rules=rules(),
        admitted=not found.reasons,
        reasons=tuple(found.reasons),
        frontier=subject.frontier,
        wall_us=(time.monotonic_ns() - began) // 1000,
        **found.figures,
    )


def _examine(subject: Subject, tree: Tree, bench: Bench, found: _Found) -> None:
    task = subject.task
    reference = [bench.submit(bench.grade, task, tree) for _ in range(REPEATS)]
    base = [bench.submit(bench.grade, task, task.before) for _ in range(REPEATS)]
    failed = _ladder(subject, tree, bench, found)
    graded = [one.result() for one in reference]
    on_base = [one.result() for one in base]
    found.figures |= {
        "reference": tuple(Grading.of(one) for one in graded),
        "base": tuple(Grading.of(one) for one in on_base),
        "reference_scores": tuple(Grading.of(one).f for one in graded),
        "base_scores": tuple(Grading.of(one).f for one in on_base),
        "spread": spelled(spread(graded)),
        "timing": (used := timing(graded, task.limits.grade_wall_s)),
    }
    before = len(found.reasons)
    found.against("reference", reference_faults(graded))
    found.against("base", base_faults(on_base))
    if len(found.reasons) > before:
        return
    found.against("timeout_sensitive", timing_faults(used))
    mutating = Mutating(bench, task, tree, used.used_us)
    varying = Varying(bench, task, tree, graded[0])
    _lint(subject, failed, found)
    _follow_up(task, bench, found)
    _parity(task, bench, found)
    found.figures["determinism"] = determinism = varying.determinism()
    found.against("determinism", determinism.differences)
    found.figures["purity"] = purity = varying.purity()
    found.against("purity", purity_faults(purity) if purity is not None else ())
    found.figures["mutants"] = mutation = mutating.result()
    found.against("mutants", mutating.problems(mutation))
    found.figures["unshown"] = unshown(task, failed, (one.killed_by for one in mutation.results))


def _ladder(subject: Subject, tree: Tree, bench: Bench, found: _Found) -> Mapping[str, frozenset[str]]:
    """Every scripted solver's attempt; gives the groups that failed each candidate. The first also looks for leaks."""
    task, ref = subject.task, subject.ref
    needles = needles_of(task, tree)
    search = Search(task, needles, bench.shelf)
    noop = bench.submit(bench.attempt, task, ref, Manifest(name="noop", driver=DriverKind.NOOP), [search]).result()
    found.figures["leaks"] = Leaks(needles=needles.count, files=search.searched, hits=search.hits)
    found.against("leak", search.hits)
    kinds = {one.name: one.kind for one in task.wrong if one.kind is not None}
    ran = {
        name: bench.submit(bench.attempt, task, ref, _candidate(DriverKind(kind.value), name))
        for name, kind in kinds.items()
    }
    best = bench.submit(bench.attempt, task, ref, Manifest(name="reference", driver=DriverKind.REFERENCE)).result()
    rungs = [rung(DriverKind.NOOP, "", noop)]
    failed: dict[str, frozenset[str]] = {}
    if f_of(noop) != 0:
        found.against("noop", [f"scores {spelled(f_of(noop))}"])
    for name, kind in kinds.items():
        record = ran[name].result()
        rungs.append(rung(DriverKind(kind.value), name, record))
        found.against(f"candidate {name}", ends_wrongly(kind, record))
        failed[name] = frozenset(failures(record.grade))
    if not kinds:
        found.against("candidates", ["there is none under wrong/"])
    rungs.append(rung(DriverKind.REFERENCE, "", best))
    found.figures["separation"] = by = separation(best)
    if f_of(best) != 1:
        found.against("reference", [f"a whole attempt with it scores {spelled(f_of(best))}: {_why(best)}"])
    elif kinds:
        groups = sum(one.kind is GroupKind.BEHAVIOUR for one in task.groups)
        candidates = [(name, kind, ran[name].result()) for name, kind in kinds.items()]
        found.against("ladder", out_of_order(by, noop, candidates, groups))
    found.figures["ladder"] = tuple(rungs)
    return failed


def _candidate(driver: DriverKind, name: str) -> Manifest:
    return Manifest(name=driver.value, driver=driver, candidate=name)


def _why(record: AttemptRecord) -> str:
    return record.reason or ", ".join(failures(record.grade))


def _lint(subject: Subject, failed: Mapping[str, frozenset[str]], found: _Found) -> None:
    spec = subject.task.spec
    entries = spec.checklist if isinstance(spec, AuthoredTask) else ()
    if not entries and not subject.suite.spec.require_checklist:
        return
    problems = tuple(lint(subject.task, entries, failed)) if entries else ("there is no [[checklist]]",)
    found.figures["spec"] = SpecLint(entries=len(entries), problems=problems)
    found.against("spec", problems)


def _parity(task: Task, bench: Bench, found: _Found) -> None:
    if task.program is None:
        return
    tools = bench.tools
    images = {name: tools.images[name] for name in images_for(task)}
    found.figures["parity"] = swept = measure(tools.engine, task, images, tools.owner)
    found.against("parity", swept.faults)


def _follow_up(task: Task, bench: Bench, found: _Found) -> None:
    """The later ticket is a task of its own, whose base is what the first reference leaves."""
    if task.follow_up is None:
        return
    later = task.follow_up.task
    tree = candidate_tree(later, later.reference, bench.tools)
    base = bench.submit(bench.grade, later, later.before)
    reference = bench.submit(bench.grade, later, tree)
    graded, on_base = reference.result(), base.result()
    found.figures["follow_up"] = FollowUpResult(base=Grading.of(on_base), reference=Grading.of(graded))
    found.against("follow_up: base", base_faults([on_base]))
    found.against("follow_up: reference", reference_faults([graded]))

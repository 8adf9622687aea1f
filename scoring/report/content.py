"""All that a card says of itself beside its results: what went in by hash, who ran, in what, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from harness.untrusted import clean_text
from scoring.card import Card
from scoring.report.table import NONE, Table
from scoring.report.text import Report, make_report
from scoring.wording import SUITE_LOCK

__all__ = ["full_report"]


def full_report(card: Card) -> Report:
    """The report of a card with its whole content behind it."""
    short = make_report(card)
    glossary = (f"{term}: {meaning}" for term, meaning in card.stamp.glossary.items())
    return Report(
        head=short.head,
        tables=(*short.tables, _solvers(card), _denominators(card), _hashes(card), _circumstances(card), _limits(card)),
        notes=(*short.notes, *(clean_text(line, 400) for line in glossary)),
        last=short.last,
    )


def _solvers(card: Card) -> Table:
    rows = tuple(
        tuple(
            clean_text(text or NONE)
            for text in (
                one.name,
                one.kind,
                one.model,
                one.harness,
                one.harness_version,
                one.effort_requested,
                one.provider,
                one.billing,
            )
        )
        for one in card.core.plan.solvers
    )
    columns = ("solver", "kind", "model", "harness", "version", "effort asked for", "provider", "billing")
    return Table("who attempted (unknown: it was not told)", columns, rows)


def _denominators(card: Card) -> Table:
    rows = []
    for solver in card.core.plan.solvers:
        row, took = card.core.aggregates[solver.name], card.measured.solvers[solver.name]
        excluded = ", ".join(f"{outcome.value} {number}" for outcome, number in row.excluded.items())
        outcomes = ", ".join(f"{outcome.value} {number}" for outcome, number in row.outcomes.items())
        rows.append(
            (
                clean_text(solver.name),
                str(row.planned),
                outcomes,
                excluded or "0",
                f"{row.solved}/{row.counted}",
                f"{row.solved}/{row.planned}",
                f"{row.tasks_counted}/{row.tasks}",
                str(took.retries),
                str(took.abandoned),
            )
        )
    columns = (
        *("solver", "planned", "ended as", "excluded", "solved/counted", "raw: solved/planned", "tasks counted"),
        *("repeated", "abandoned"),
    )
    return Table("denominators", columns, tuple(rows))


def _hashes(card: Card) -> Table:
    return Table("what went in, by hash", ("what", "name", "digest"), tuple(_went_in(card)))


def _went_in(card: Card) -> Iterator[tuple[str, str, str]]:
    plan, stamp = card.core.plan, card.stamp
    yield "suite", f"{clean_text(plan.suite.name)} {plan.suite.version}", plan.suite.hash
    for task in plan.tasks:
        yield "task (score)", clean_text(task.task), task.score_hash
        yield "task (authoring)", clean_text(task.task), task.authoring_hash
    for image in plan.images:
        yield "image", clean_text(image.name) + (", drifted" if image.drift else ""), image.id
        yield "image's lock" if image.locked else "image without a lock", clean_text(image.name), image.lock
    for solver in plan.solvers:
        yield "solver's manifest", clean_text(solver.name), solver.manifest
    yield "formula", NONE, plan.formula
    if plan.judging is not None:
        judges = ", ".join(f"{one.model} ({one.lab})" for one in plan.judging.panel)
        yield "judge protocol", clean_text(f"{plan.judging.kind.value}: {judges}"), plan.judging.protocol
        yield "rubric", NONE, plan.judging.rubric or "none"
        yield "exam", NONE, plan.judging.exam or "none"
    else:
        yield "judge protocol, rubric, exam", "nobody judged", NONE
    prices = stamp.prices
    yield "prices", prices.date if prices else "no money is shown", prices.table.digest if prices else NONE
    yield "plan", f"known runs of it: {stamp.run.runs_known}", plan.id
    yield "ledger", "its chain of happenings", stamp.run.ledger or NONE


def _circumstances(card: Card) -> Table:
    stamp = card.stamp
    run, host, engine, code = stamp.run, stamp.host, stamp.engine, stamp.harness
    dirty = {True: "with changes", False: "clean", None: "not known whether changed"}[code.dirty]
    tools = "; ".join(
        ", ".join(f"{name} {version}" for name, version in one.model_dump(mode="json").items()) for one in stamp.tools
    )
    rows = [
        ("mode, provider", f"{run.mode.value}, {clean_text(run.provider)}"),
        ("execution", ", ".join(mode.value for mode in run.execution_modes)),
        ("energy", "certified" if run.certified else "not certified"),
        ("attempts at once", str(run.concurrency)),
        ("harness", clean_text(f"trialbox {code.version}, commit {code.commit}, {dirty}; Python {stamp.python}")),
        ("host", clean_text(f"{host.cpu_model}, {host.cpus} CPUs, {host.memory_bytes} bytes, {host.architecture}")),
        (
            "kernel, engine",
            clean_text(f"{host.kernel}; {engine.kind} {engine.version}, {engine.runtime} {engine.runtime_version}"),
        ),
        (
            "storage, cgroup",
            clean_text(f"{engine.storage_driver}; version {engine.cgroup_version} ({engine.cgroup_driver})"),
        ),
        ("tools", clean_text(tools, 400) or NONE),
        ("partial", "yes: tasks of the suite were left out" if run.partial else "no"),
        ("image drift", "yes" if run.image_drift else "no"),
        ("suite's lock", SUITE_LOCK[run.suite_lock] if run.suite_lock else "not known: the card is older"),
        ("audit", stamp.audit.status.value),
    ]
    for name, channel in stamp.audit.channels.items():
        told = f"full {channel.full}, partial {channel.partial}, none {channel.none}"
        rows.append((f"coverage of {clean_text(name)}", told))
    if not run.interventions:
        rows.append(("operator", "intervened in nothing"))
    rows += [("operator", clean_text(f"{one.kind.value}: {one.detail}", 300)) for one in run.interventions]
    return Table("how it was run", ("what", "how"), tuple(rows))


def _limits(card: Card) -> Table:
    rows = tuple(
        (
            clean_text(task),
            *(
                str(value)
                for value in (one.wall_s, one.grade_wall_s, one.memory_mb, one.cpus, one.pids, one.workspace_mb)
            ),
        )
        for task, one in card.stamp.task_limits.items()
    )
    columns = ("task", "wall s", "grade s", "memory MB", "CPUs", "pids", "workspace MB")
    return Table("limits of an attempt", columns, rows)

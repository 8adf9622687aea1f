"""What a task must be to say that it is decontaminated."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from audits.cutoffs import Cutoff, table
from audits.decontamination import claim_faults
from harness.releases import Releases
from harness.suites.formats.common import AuthorKind, Provenance, Upstream
from harness.suites.load import find_suites, load_suite

ROOT = Path(__file__).parent.parent
ROWS = [
    Cutoff(model="old", cutoff=datetime.date(2025, 1, 31), kind="training", source="s"),
    Cutoff(model="new", cutoff=datetime.date(2026, 6, 30), kind="knowledge", source="s"),
]
EARLY, LAST, LATE = datetime.date(2015, 5, 1), datetime.date(2026, 6, 30), datetime.date(2026, 7, 1)


def claimed(
    published: datetime.date | None = None, upstream: Upstream | None = None, *, made: bool = True
) -> Provenance:
    return Provenance(
        author_kind=AuthorKind.HAND if upstream is None else AuthorKind.UPSTREAM,
        created=EARLY,
        published=published,
        licence="MIT",
        decontaminated=made,
        upstream=upstream,
    )


def change(merged: datetime.date | None, public: datetime.date | None, fixed: datetime.date | None = None) -> Upstream:
    return Upstream(project="p", merged=merged, fix_date=fixed, first_public=public)


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        (claimed(), ()),
        (claimed(LATE), ()),
        (claimed(LAST), ("published is 2026-06-30, not after the cutoff of new, 2026-06-30",)),
        (claimed(None, change(LATE, LATE)), ()),
        (claimed(None, change(None, LATE, LATE)), ()),
        (
            claimed(None, change(EARLY, LATE)),
            ("upstream.merged is 2015-05-01, not after the cutoff of new, 2026-06-30",),
        ),
        (
            claimed(None, change(LATE, LAST)),
            ("upstream.first_public is 2026-06-30, not after the cutoff of new, 2026-06-30",),
        ),
        (
            claimed(None, change(None, None)),
            ("neither upstream.merged nor upstream.fix_date is known", "upstream.first_public is not known"),
        ),
        (claimed(EARLY, change(EARLY, EARLY), made=False), ()),
    ],
)
def test_the_criteria(provenance: Provenance, said: tuple[str, ...]) -> None:
    assert claim_faults(provenance, ROWS) == said


def test_the_table_that_ships_counts() -> None:
    """The fault that was found: a claim beside an upstream merge of 2015."""
    assert claim_faults(claimed(None, change(EARLY, EARLY)))
    last = max(one.cutoff for one in table())
    assert claim_faults(claimed(last))
    assert not claim_faults(claimed(last + datetime.timedelta(days=1)))


@pytest.mark.parametrize("folder", find_suites(ROOT / "tasks").values(), ids=lambda path: path.name)
def test_no_shipped_task_claims_too_much(folder: Path) -> None:
    for task in load_suite(folder, releases=Releases.fetching(print)).tasks:
        assert task.spec.provenance is not None
        assert claim_faults(task.spec.provenance) == (), task.id

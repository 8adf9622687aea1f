"""The vectors of docs/scoring-method.md, run through the real tools."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from scoring.factor import Factor
from scoring.formula import METHOD
from scoring.lint import quality
from scoring.security import security
from tests.scan_rig import scan

PAGE = (Path(__file__).parent.parent / "docs" / "scoring-method.md").read_text(encoding="utf-8")
VECTORS = [tomllib.loads(block) for block in re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]


def _shown(score: Factor) -> str:
    return score.figure.value if score.figure.value is not None else f"missing: {score.figure.reason}"


def test_the_page_is_of_this_method():
    assert f"\nMethod {METHOD}. " in PAGE
    assert len(VECTORS) >= 10


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_vector(vector):
    record = scan(vector.get("before", {}), vector.get("after", {}))
    q = quality(record)
    parts = {name: figure.value for name, figure in q.parts.items() if name in vector}
    assert parts == {name: vector[name] for name in q.parts if name in vector}
    assert (_shown(q), _shown(security(record))) == (vector["q"], vector["s"])

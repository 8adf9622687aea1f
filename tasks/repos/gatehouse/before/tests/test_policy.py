"""Policies as they are written."""

import pytest

from gatehouse import Gate, PolicyError


@pytest.mark.parametrize(
    "policy",
    [
        "alow x GET /",
        "allow x GET",
        "allow x GET a",
        "allow x GET / if hour",
        "allow x GET / when hour <",
        "allow x GET / when (hour < 3",
        "role a: b\nrole b: a",
        "role a: b\nrole a: c",
        "option fold",
    ],
)
def test_what_is_no_policy(policy: str) -> None:
    with pytest.raises(PolicyError):
        Gate(policy)

"""What the library relies on today."""

import pytest

from seedvault import NotEnough, Vault
from seedvault.labels import label


def test_a_lot_is_counted_and_labelled():
    vault = Vault({"kale": 4000})
    assert vault.deposit("K1", "kale", "2 g", 90, 2020) == 500
    assert label(vault, "K1") == "K1 | kale | 500 seeds | 2020 at 90%"


def test_the_shelf_takes_a_tenth_each_year():
    vault = Vault({"kale": 4000})
    vault.deposit("K1", "kale", "100 seeds", 90, 2020)
    assert [vault.rate("K1", year) for year in (2020, 2021, 2022)] == [90, 81, 72]


def test_too_much_asked_changes_nothing():
    vault = Vault({"kale": 4000})
    vault.deposit("K1", "kale", "100 seeds", 90, 2020)
    with pytest.raises(NotEnough):
        vault.sow("kale", 91, 2020)
    assert vault.describe("K1")["seeds"] == 100

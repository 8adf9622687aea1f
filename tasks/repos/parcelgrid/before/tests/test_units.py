"""What is written on parcels."""

import pytest

from parcelgrid.units import weight_g


def test_weights() -> None:
    assert weight_g("850 g") == 850
    assert weight_g("2.35kg") == 2350


@pytest.mark.parametrize("text", ["", "12", "-1 kg", "1,5 kg", "0 g", "3 lb"])
def test_no_weights(text: str) -> None:
    with pytest.raises(ValueError):
        weight_g(text)

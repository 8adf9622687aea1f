"""RFC 8785's published test data: the digests of what each value's canonical form must be."""

from __future__ import annotations

import hashlib
import json
import struct

import pytest
import rfc8785

from harness.digest import canonical

PUBLISHED = {
    "arrays": (
        [56, {"d": True, "10": None, "1": []}],
        "099601b171cafed97c333f8878d68e7f8c8f795412adb34b2fdcf0e7c7beac42",
    ),
    "french": (
        {
            "peach": "This sorting order",
            "péché": "is wrong according to French",
            "pêche": "but canonicalization MUST",
            "sin": "ignore locale",
        },
        "d99d0ebdcb0033cb858cfa830ae46bc0fb3309413b271f1da828c89901a27ed5",
    ),
    "structures": (
        {
            "1": {"f": {"f": "hi", "F": 5}, "\n": 56},
            "10": {},
            "": "empty",
            "a": {},
            "111": [{"e": "yes", "E": "no"}],
            "A": {},
        },
        "605f65004ec2db7692522a0852c22f1c989e036d547e88963d1a3143cf3195d5",
    ),
    "unicode": (
        {"Unnormalized Unicode": "A\u030a"},
        "0d99aad92a125196ff887876643fd3206786a84ddce2cee52ba4ad256d2381d3",
    ),
    "weird": (
        {
            "\u20ac": "Euro Sign",
            "\r": "Carriage Return",
            "\n": "Newline",
            "1": "One",
            "\u0080": "Control\u007f",
            "\U0001f602": "Smiley",
            "\u00f6": "Latin Small Letter O With Diaeresis",
            "\ufb33": "Hebrew Letter Dalet With Dagesh",
            "</script>": "Browser Challenge",
        },
        "6af595a9aa80110b964b4de3f82a05fa6ae7423005019bacfa2620dddc4e94d1",
    ),
}
NUMBERS = {
    "numbers": [333333333.33333329, 1e30, 4.5, 2e-3, 1e-27],
    "string": '\u20ac$\u000f\nA\'B"\\\\"/',
    "literals": [None, True, False],
}
"""Floats are no part of our records, so this one is for the library alone."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_values_have_the_published_digests(name: str) -> None:
    value, expected = PUBLISHED[name]
    assert hashlib.sha256(canonical(value)).hexdigest() == expected


def test_the_published_numbers_do_too_and_are_refused_in_records() -> None:
    expected = "2d5e01a318d0f0879ab568c4be289c8b1f64ef8921a53c6277d5e069978baacb"
    assert hashlib.sha256(rfc8785.dumps(NUMBERS)).hexdigest() == expected  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="float"):
        canonical(NUMBERS)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("444b1ae4d6e2ef50", b"1e+21"),
        ("4415af1d78b58c40", b"100000000000000000000"),
        ("3eb0c6f7a0b5ed8d", b"0.000001"),
        ("3eb0c6f7a0b5ed8c", b"9.999999999999997e-7"),
        ("8000000000000000", b"0"),
        ("0000000000000001", b"5e-324"),
        ("4340000000000001", b"9007199254740994"),
        ("3e7ad7f29abcaf48", b"1e-7"),
        ("41b3de4355555555", b"333333333.3333333"),
        ("4430000000000000", b"295147905179352830000"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(bits: str, text: bytes) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert rfc8785.dumps(number) == text


def test_a_mixed_value_and_a_number_too_large() -> None:
    value = {"a": 1, "b": [True, None, 1, "é"]}
    assert hashlib.sha256(canonical(value)).hexdigest() == (
        "a01c22bc61a181eb0f86358c7a464810e9a8fe5e534a5da6a79235eaac100ed9"
    )
    assert rfc8785.dumps(value | {"b": [True, None, 1.0, "é"]}) == canonical(value)
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical(2**53)


def test_keys_are_in_the_order_of_their_utf_16_units() -> None:
    """An emoji is two units from U+D800 on, and so before U+FB33, which has the smaller code point."""
    keys = ["\r", "1", "\u0080", "ö", "€", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(dict.fromkeys(reversed(keys), 0)))) == keys

"""The type gate, with the real type checker in its sealed container."""

from __future__ import annotations

import pytest

from harness.suites.tree import LINK, REGULAR, Entry, Tree
from harness.typegate import MAX_TARGET_BYTES, check_types
from tests.oracle_rig import tree

GOOD = "def double(x: int) -> int:\n    return 2 * x\n"


def _data(body: bytes) -> Tree:
    return Tree([Entry("m.py", REGULAR, body)])


@pytest.fixture
def gate(engine, images, owner):
    """What the gate says against ``m.py`` of a tree, or of a tree of that text alone."""

    def say(given: Tree | str, target: str = "m.py") -> str | None:
        made = tree({"m.py": given}) if isinstance(given, str) else given
        return check_types(engine, images["typing"].handle, made, target, owner)

    return say


@pytest.mark.engine
def test_what_passes(gate):
    assert gate(GOOD) is None
    assert gate('"""Says # type: ignore and # mypy: ignore-errors in a text."""\n' + GOOD) is None
    # what the target imports is followed, and its own faults are not the target's
    other = "def untyped(x):\n    return x + 1\n\ndef typed(x: int) -> int:\n    return x\n"
    user = "from pkg.other import typed\n\ndef f() -> int:\n    return typed(1)\n"
    assert gate(tree({"pkg/__init__.py": "", "pkg/other.py": other, "pkg/m.py": user}), "pkg/m.py") is None


@pytest.mark.engine
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def double(x):\n    return 2 * x\n", "m.py:1: error: "),
        ("def double(x: int) -> str:\n    return 2 * x\n", "m.py:2: error: "),
        ("def double(x: int) -> int:\n    return twice(x)\n", "m.py:2: error: "),
        ("def double(x: int) -> int\n    return 2 * x\n", "m.py:1: error: "),
        ("import nowhere\n" + GOOD, "m.py:1: error: "),
        ("x: int = '\x1b[31m\u202e'\n", "m.py:1: error: "),
    ],
)
def test_what_fails_is_told_in_one_line(gate, text, said):
    told = gate(text)
    assert told.startswith(said)
    assert told.isprintable()


@pytest.mark.engine
def test_settings_of_the_candidates_own_take_no_part(gate):
    untyped = "def double(x):\n    return 2 * x\n"
    soft = "[mypy]\nignore_errors = True\nplugins = plug.py\n"
    own = {"m.py": untyped, "mypy.ini": soft, "setup.cfg": soft, ".mypy.ini": soft}
    own["pyproject.toml"] = "[tool.mypy]\nignore_errors = true\n"
    own["plug.py"] = "raise SystemExit(0)\n"
    own["mypy.py"] = own["sitecustomize.py"] = "raise SystemExit(0)\n"
    assert gate(tree(own)).startswith("m.py:1: error: ")
    assert gate(tree({"m.py": untyped, "m.pyi": GOOD.replace("return 2 * x", "...")})) is not None


UNTYPED = b"def f(x):\n    return x\n"
BUILT = b'b = f"{k["\'\'\'"]}"\n'


@pytest.mark.engine
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"# mypy: ignore-errors\n" + UNTYPED, "the comment # mypy: ignore-errors"),
        (b"# type: ignore\n" + UNTYPED, "the comment # type: ignore"),
        (b"def f(x): ...  #type:ignore[no-untyped-def]\n", "the comment #type:ignore"),
        (b"def f(x): ...  # noqa # type: ignore\n", "the comment # noqa # type: ignore"),
        (b"from typing import no_type_check as f\n@f\n" + UNTYPED, "the name no_type_check"),
        ((b"# mypy: ignore-errors\n" + UNTYPED).replace(b"\n", b"\r"), "the comment # mypy: ignore-errors"),
        # a text between quotes for a Python before 3.12
        (
            b"k = {\"'''\": 1}\n" + BUILT + b"# mypy: ignore-errors\n" + UNTYPED + BUILT,
            "the comment # mypy: ignore-errors",
        ),
        # between quotes for Python, which reads UTF-7 here, and a comment for mypy, which doesn't
        (
            b"# coding: utf-7\ndef a():\n    return +ACIAIgAi-[0]\n# mypy: ignore-errors\n"
            b"def b():\n    return +ACIAIgAi-[0]\n" + UNTYPED,
            "the encoding utf-7",
        ),
        *((b"# coding: " + name + b"\n" + UNTYPED, f"the encoding {name.decode()}") for name in (b"hex", b"undefined")),
    ],
)
def test_what_switches_the_check_off_fails_it(gate, body, said):
    assert f"holds what switches the check off or hides it: {said}" in gate(_data(body))


def test_a_target_that_is_too_large_is_refused_without_asking():
    # no engine is needed: none is asked
    body = b"x = 1\n" * (MAX_TARGET_BYTES // 6 + 1)
    assert "the check reads 1048576" in check_types(None, "", _data(body), "m.py", "")  # type: ignore[arg-type]


def test_a_target_that_is_no_file():
    for made in (Tree(), Tree([Entry("m.py", LINK, b"other.py")])):
        assert check_types(None, "", made, "m.py", "") == "m.py is no file"  # type: ignore[arg-type]


@pytest.mark.engine
@pytest.mark.parametrize("body", [b"\xff\xfe\0", b"x = '\n", b"\0" * 100, b"(" * 5000])
def test_what_is_no_python_fails(gate, body):
    assert gate(_data(body)) is not None


@pytest.mark.engine
def test_a_target_that_takes_too_long_fails(engine, images, owner):
    slow = (
        "x = "
        + "(" * 60
        + "1"
        + " + 1)" * 60
        + "\n"
        + "".join(f"def f{n}(x: int) -> int:\n    return x\n" for n in range(20_000))
    )
    told = check_types(engine, images["typing"].handle, _data(slow.encode()), "m.py", owner, timeout_s=1)
    assert told == "the check took longer than 1 s"

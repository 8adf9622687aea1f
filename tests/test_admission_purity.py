"""The static look at a function's code."""

from __future__ import annotations

import pytest

from harness.suites.admission.purity import impurities
from harness.suites.tree import REGULAR, Entry, Tree


def found(text: str) -> list[str]:
    return list(impurities(Tree(), Tree([Entry("a.py", REGULAR, text.encode())])))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import time", "the clock"),
        ("from time import monotonic as m", "the clock"),
        ("import random", "randomness"),
        ("from uuid import uuid4", "randomness"),
        ("import socket", "the network"),
        ("import urllib.request", "the network"),
        ("import os", "the filesystem"),
        ("from pathlib import Path\nx = Path('a').read_text()\nPath.read_text(x)", "the filesystem"),
        ("x = open('a')", "the filesystem"),
        ("import threading", "processes or threads"),
        ("from concurrent.futures import ThreadPoolExecutor", "processes or threads"),
        ("async def f(): ...", "an event loop"),
        ("x = id(3)", "an object's address"),
        ("x = hash('a')", "a hash that a seed decides"),
        ("from datetime import date\nx = date.today()", "the clock"),
        ("import datetime\nx = datetime.datetime.now()", "the clock"),
        ("x = eval('1')", "code made at run time"),
        ("import ctypes", "the interpreter's insides"),
        ("def f(:", "no Python"),
    ],
)
def test_what_is_impure_is_named(text, what):
    assert any(line.endswith(f"uses {what}") for line in found(text))


@pytest.mark.parametrize(
    "text",
    [
        "from os.path import join",
        "import os.path",
        "from urllib.parse import quote",
        "import re, math, heapq, decimal, collections, itertools, functools, dataclasses, json",
        "from datetime import date\nx = date(2026, 1, 2).isoformat()",
        "def hash(x): return x\ny = hash(1)",
        "from .time import f",
    ],
)
def test_what_is_pure_is_not(text):
    assert found(text) == []


def test_only_files_that_the_reference_changes_are_looked_at():
    same = Entry("old.py", REGULAR, b"import time\n")
    new = Entry("new.py", REGULAR, b"import random\n")
    assert list(impurities(Tree([same]), Tree([same, new]))) == ["new.py:1: uses randomness"]

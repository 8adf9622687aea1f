"""The scanner service on hostile and odd files, run on this machine's Python."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.engine.exec import ExecResult
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.errors import InfraError
from harness.records import from_json, to_json
from harness.scan import MemoryCache, Scanner, rules, scanner
from harness.scan.records import ScanRecord, Trouble
from harness.suites.tree import LINK, REGULAR, Entry, Tree
from scoring.lint import quality
from scoring.security import security
from tests.scan_rig import SCANNER, LocalRunner, local, scan, tree

SIMPLE = "def f(x):\n    if x > 0:\n        return 1\n    return 0\n"


def side_of(data):
    """What the tools say of one new file."""
    return scan({}, {"a.py": data}).files[0].after


def complexity_of(source):
    return {unit.name: unit.complexity for unit in side_of(source).metrics.units}


# -------------------------------------------------------------------------------------------------- what can't be read


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (b"def f(:\n", Trouble.SYNTAX),
        (b"x = 1\0\n", Trouble.SYNTAX),
        (b"s = '\xe9'\n", Trouble.ENCODING),
        (b"# coding: rot13\nk = 1\n", Trouble.ENCODING),
        (b"# coding: nonsense\nk = 1\n", Trouble.ENCODING),
        (b"x = " + b"+".join([b"1"] * 3000) + b"\n", Trouble.DEPTH),
        (b"if x: pass\n" + b"elif x: pass\n" * 1500, Trouble.DEPTH),
        (b"x = 1\n" * 200_000, Trouble.SIZE),
    ],
    ids=["syntax", "nul", "not utf-8", "rot13", "unknown codec", "deep sum", "elif chain", "too large"],
)
def test_unreadable(data, trouble):
    assert side_of(data).trouble is trouble


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# nothing\n",
        b'"""only a docstring"""\n',
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: latin-1 -*-\ns = '\xe9'\n",
        "\x0cs = 'a\x0bb\x1cc\u0085d\u2028e'\r\n".encode(),
        b"x = \\\n    1 \\\n    + 2\n",
        b"D = {\n" + b"".join(b"  %d: %d,\n" % (i, i) for i in range(3000)) + b"}\n",
        b"x = '{' + f'{1:>{2}}' + \"}\"\n",
    ],
    ids=["empty", "comment", "docstring", "bom", "latin-1", "odd breaks", "backslash", "3,000-line literal", "braces"],
)
def test_odd_but_readable(data):
    side = side_of(data)
    assert side.trouble is None
    assert None not in (side.violations, side.metrics, side.findings)


# ----------------------------------------------------------------------------------------- what radon 6.0.1 leaves out


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (SIMPLE, 2),
        ("def f(x):\n    try:\n        g()\n    except* ValueError:\n        pass\n    else:\n        h()\n", 3),
        ("def f(x):\n    assert x and x > 1, 'no'\n", 3),
        (
            "def f(x):\n  match x:\n    case 1: return 1\n    case y if y > 1: return 2\n    case _: return 3\n",
            4,
        ),
        ("def f(x):\n    match x:\n        case 1: return 1\n        case _: return 2\n", 2),
    ],
    ids=["plain", "except*", "assert", "guard", "default"],
)
def test_complexity(source, expected):
    assert complexity_of(source) == {"<module>": 1, "f": expected}


def test_functions_inside_everything_are_found():
    source = "def f():\n  class A:\n    def m(self):\n      def k(): return 1 if x else 2\n      return k\n  return A\n"
    assert complexity_of(source) == {"<module>": 1, "f": 1, "f.A.m": 1, "f.A.m.k": 2}
    assert complexity_of("class A:\n    y = 1 if z else 2\n    async def m(self): pass\n") == {"<module>": 2, "A.m": 1}


# ----------------------------------------------------------------------------------------- layout moves nothing at all

SOURCES = sorted((Path(__file__).parent.parent / "harness").glob("*.py"))[:12]


def _laid_out_by_ruff(text, width, quotes):
    options = ["--isolated", f"--line-length={width}", f"--config=format.quote-style='{quotes}'"]
    ruff = Path(sys.executable).parent / "ruff"
    argv = [ruff, "format", *options, "--stdin-filename", "a.py", "-"]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SOURCES), st.sampled_from(SOURCES), st.integers(40, 200), st.sampled_from(["single", "double"]))
def test_a_candidate_laid_out_anew_scores_the_same(before, after, width, quotes):
    text = after.read_text()
    other = "# noqa\n# fmt: off\n" + _laid_out_by_ruff(text, width, quotes).replace("\n\n", "\n# nosec\n\n")
    one = scan({"a.py": before.read_text()}, {"a.py": text})
    two = scan({"a.py": before.read_text()}, {"a.py": other})
    # A reason may say "nothing changed" of the one and "layout changed" of the other; figures may not differ.
    for score in (quality, security):
        assert score(one).exact == score(two).exact
        assert score(one).parts == score(two).parts
    assert scan({"a.py": text}, {"a.py": other}).files[0].before.code == two.files[0].after.code


# --------------------------------------------------------------------------------------------- limits and the protocol


@pytest.mark.parametrize(
    ("limit", "value", "trouble"),
    [
        ("wall_s", 0, Trouble.TIME),
        ("batch_s", -1, Trouble.TIME),
        ("memory_bytes", 1 << 20, None),
        ("output_bytes", 10, None),
    ],
)
def test_a_limit_makes_the_file_unavailable(monkeypatch, limit, value, trouble):
    monkeypatch.setitem(rules.SETTINGS, limit, value)
    side = side_of(SIMPLE)
    assert side.trouble is not None
    assert trouble is None or side.trouble is trouble
    assert quality(scan({}, {"a.py": SIMPLE})).fraction is None


def test_processor_time_is_limited(monkeypatch):
    monkeypatch.setitem(rules.SETTINGS, "cpu_s", 1)
    slow = "x = [" + ",".join(f"a{i} + b{i} * (c{i} - 1)" for i in range(28_000)) + "]\n"
    assert side_of(slow).trouble is Trouble.TIME


def test_init_may_reexport():
    record = scan({}, {"a/__init__.py": "from a.b import c\n", "a/b.py": "import os\n"})
    assert [len(one.after.violations) for one in record.files] == [0, 1]


def test_only_regular_python_files_are_read():
    before = tree({"a.py": SIMPLE, "b.txt": "1", "m.py": SIMPLE})
    link = Tree([Entry("a.py", LINK, b"m.py"), Entry("b.txt", REGULAR, b"2"), Entry("m.py", 0o755, SIMPLE.encode())])
    record = SCANNER.scan(before, link)
    assert (record.changed, record.python) == (3, 1)
    assert (record.files[0].before is None, record.files[0].after) == (False, None)


def test_too_many_files_are_not_scanned():
    record = scan({}, {f"f{i}.py": "" for i in range(rules.MAX_FILES + 1)})
    assert (record.complete, record.files, record.python) == (False, (), rules.MAX_FILES + 1)


def test_too_many_bytes_are_not_scanned():
    half = "#" * (rules.LIMITS["change_bytes"] // 8)
    record = scan({}, {f"f{i}.py": f"{half}{i}" for i in range(8)})
    assert (record.complete, record.files, record.python) == (False, (), 8)


def test_the_record_survives_storage_and_gives_the_same_scores():
    record = scan({"a.py": SIMPLE}, {"a.py": SIMPLE + "eval('1')\n"})
    again = from_json(ScanRecord, to_json(record))
    assert again == record
    assert (quality(again), security(again)) == (quality(record), security(record))


def test_the_cache_knows_a_file_on_either_side():
    runner, cache = LocalRunner(), MemoryCache()

    @contextmanager
    def container():
        yield runner

    cached = Scanner(container, image=None, cache=cache)
    first = cached.scan(tree({"a.py": "x = 1\n"}), tree({"a.py": SIMPLE}))
    assert cached.scan(tree({"a.py": "x = 1\n"}), tree({"a.py": SIMPLE})) == first
    cached.scan(tree({"a.py": SIMPLE}), tree({"a.py": "x = 1\n"}))
    assert runner.calls == 1
    cached.scan(tree({}), tree({"__init__.py": SIMPLE}))
    assert runner.calls == 2


def test_a_host_dependent_answer_is_not_cached(monkeypatch):
    cache = MemoryCache()
    settings = dict(rules.SETTINGS)
    monkeypatch.setattr(scanner, "SETTINGS", settings | {"wall_s": 0})
    assert Scanner(local, None, cache).scan(tree({}), tree({"a.py": SIMPLE})).files[0].after.trouble is Trouble.TIME
    kept = {key for key in cache._known if "/tools" not in key}
    assert kept == set()


def test_many_files_go_in_several_calls(monkeypatch):
    monkeypatch.setattr(scanner, "BATCH_BYTES", 10)
    record = scan({}, {f"f{i}.py": f"x = {i}\n" for i in range(5)})
    assert [one.after.trouble for one in record.files] == [None] * 5


class Answers:
    """A container whose service says what the test wants."""

    def __init__(self, stdout, *, exit_status=0, dropped=0, timed_out=False):
        self.result = ExecResult(exit_status, stdout, b"Traceback\nNo module named radon\n", dropped, timed_out, 1)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def run(self, *_arguments, **_options):
        return self.result


TOOLS = json.dumps({"tools": {"python": "3", "ruff": "1", "radon": "1", "bandit": "1"}}).encode() + b"\n"


@pytest.mark.parametrize(
    "stdout", [b"", b"not json\n", b'{"done": 1}\n', TOOLS + b'{"n": 7}\n', TOOLS + b'{"n": 0, "x": 1}\n']
)
def test_a_service_out_of_protocol_is_a_fault_of_ours(stdout):
    with pytest.raises(InfraError, match=r"^scanner: "):
        Scanner(lambda: Answers(stdout, exit_status=1), None).scan(tree({}), tree({"a.py": ""}))


@pytest.mark.parametrize(
    ("how", "trouble"),
    [({"exit_status": 137}, Trouble.DIED), ({"dropped": 9}, Trouble.OUTPUT), ({"timed_out": True}, Trouble.TIME)],
)
def test_a_file_without_an_answer_is_unavailable(how, trouble):
    record = Scanner(lambda: Answers(TOOLS + b'{"n": 0, "tro', **how), None).scan(tree({}), tree({"a.py": ""}))
    assert record.files[0].after.trouble is trouble


@pytest.mark.engine
def test_the_scanner_container_agrees(engine, images, owner):
    image: BuiltImage = images["scanner"]

    def container():
        spec = SandboxSpec(role=Role.SCANNER, image=image.handle, memory_mb=1024, pids=64, tmp_mb=128)
        return Sandbox(engine, spec, owner)

    before = tree({"a.py": SIMPLE, "c.py": "import os\n"})
    after = tree(
        {
            "a.py": SIMPLE + "\n\ndef g(y):\n    return eval(y)\n",
            "b.py": b"def f(:\n",
            "c.py": "x = " + "1 + " * 3000 + "1\n",
        }
    )
    there = Scanner(container, image.ref.id).scan(before, after)
    here = SCANNER.scan(before, after)
    assert there.tools.image == image.ref.id
    assert (there.tools.ruff, there.tools.radon, there.tools.bandit) == (
        here.tools.ruff,
        here.tools.radon,
        here.tools.bandit,
    )
    assert [(one.path, one.after.trouble) for one in there.files] == [
        ("a.py", None),
        ("b.py", Trouble.SYNTAX),
        ("c.py", Trouble.DEPTH),
    ]
    # Digests of trees differ between Python versions; everything that scores does not.
    assert there.files[0].after.lines == here.files[0].after.lines
    assert there.files[0].after.findings == here.files[0].after.findings
    assert (quality(there), security(there)) == (quality(here), security(here))

"""Trees and texts made to be slow to look at: each is dealt with at once, where it once took minutes.

A test that hangs is ended; nothing is measured.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.change import MAX_CHANGED, compare, render
from harness.digest import canonical
from harness.oracles.observe import parse_observations
from harness.oracles.policy import examine
from harness.oracles.run import _readable, _written
from harness.oracles.sessions import parse_sessions
from harness.outcomes import Rejection
from harness.store import LocalStore
from harness.suites.tree import REGULAR, Entry, Tree
from harness.untrusted import Listing, Refused, read_archive
from harness.workspace import pack

_FILES = 20_000


# A stage must end within 10 s of its limit; three times that, for a busy machine.
pytestmark = pytest.mark.timeout(30)


def _read(names):
    archive = io.BytesIO()
    count = 0
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo("./" + name))
            count += 1
    archive.seek(0)
    return read_archive(archive, Listing(Counter({"f": count}), 250), max_bytes=1 << 20).tree


def _text(path, text):
    return Tree([Entry(path, REGULAR, text.encode())])


def test_long_names_of_any_alphabet():
    for long in ("a" * 250, "\u00a0x" * 80, "\u0301" * 60 + "\u0316" * 60):
        assert len(_read(f"{long}/{long}/{long}/{n}" for n in range(3000))) == 3000


def test_deep_names():
    tree = _read("d/" * 250 + str(n) for n in range(4000))
    assert tree.inodes == 4000 + 251
    assert pack(tree)


def test_thousands_of_environments():
    assert not _read(f"d{n}/{name}" for n in range(_FILES // 2) for name in ("code.py", "pyvenv.cfg"))


def test_a_change_of_very_many_files_is_refused_before_any_is_kept(tmp_path):
    store = LocalStore(tmp_path)
    with pytest.raises(Refused) as caught:
        compare(Tree(), Tree(Entry(f"f{n}", REGULAR, b"%d" % n) for n in range(MAX_CHANGED + 1)), store)
    assert caught.value.reason is Rejection.TOO_MANY_FILES
    assert not list(store.digests())


def test_everything_deleted_is_never_too_many(tmp_path):
    before = Tree(Entry(f"f{n}", REGULAR, b"") for n in range(MAX_CHANGED + 1))
    assert len(compare(before, Tree(), LocalStore(tmp_path)).changes) == MAX_CHANGED + 1


def test_tens_of_millions_of_short_lines_are_named_and_not_shown(tmp_path):
    after = Tree(Entry(f"f{n}", REGULAR, b"a\n" * (25 << 20)) for n in range(3)).overlay(_text("z", "shown\n"))
    manifest = compare(Tree(), after, LocalStore(tmp_path))
    shown = render(Tree(), after, manifest)
    assert shown.count(b"Large files differ: none sha256:") == 3
    assert b"+shown\n" in shown


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "a" + ".a" * 100_000 + " = 1\n"),
        ("pyproject.toml", "".join(f"a{n}" + ".a" * 990 + " = 1\n" for n in range(2000))),
        ("pyproject.toml", "a = " + "[" * 100_000),
        ("tox.ini", "[pytest]\na" + " " * 200_000 + "b\n"),
        ("sub/setup.cfg", ("a" + " " * 1990 + "b\n") * 20_000),
        ("pytest.ini", "[pytest]\naddopts = -x\n" + "# padding\n" * 20_000),
    ],
)
def test_settings_that_are_too_large_to_parse_are_refused_or_flagged(path, text):
    policy = examine(Tree(), _text(path, text))
    assert policy.rejection is Rejection.TEST_CONFIG_MODIFIED
    assert examine(Tree(), _text(path, text), settings_matter=False).flags


def test_settings_in_very_many_files():
    after = Tree(Entry(f"d{n}/tox.ini", REGULAR, b"a" + b" " * 1990 + b"b\n") for n in range(4000))
    assert examine(Tree(), after).rejection is Rejection.TEST_CONFIG_MODIFIED
    assert len(examine(Tree(), after, settings_matter=False).flags) < 200


@pytest.mark.parametrize("name", [".GIT/config", "sub/.Git", ".GitModules"])
def test_gits_own_names_in_another_case_are_refused(name):
    with pytest.raises(Refused) as caught:
        _read([name])
    assert caught.value.reason is Rejection.NESTED_REPOSITORY


@pytest.mark.parametrize("line", [b"ab\n", b"0 {}\n", b"9 {}\n"])
def test_a_flood_on_the_channel_of_the_sessions(line):
    sessions, _ = parse_sessions(line * (4 << 20), 3)
    assert sessions[0].forged


@pytest.mark.parametrize("words", [b"[" * (7 << 20), b"[" + b"[]," * (2 << 20) + b"0]", b"{" * 200 + b"}" * 200])
def test_answers_of_brackets(words):
    heard = parse_observations(b'[0,0,"answered"]\t' + words + b"\nend\n", [1])
    assert heard.by_item[0, 0].answer is None


@pytest.mark.parametrize("said", [b"\x01", b"\xff", b"\n", b'"'])
def test_sixteen_megabytes_of_what_must_be_escaped(said):
    text = _readable(said * (16 << 20))
    assert json.loads(_written({"said": text})) == {"said": text}


@given(st.dictionaries(st.text("abc_"), st.text(), max_size=4))
def test_observations_are_written_canonically(observations):
    assert _written(observations) == canonical(observations)

"""The lines of traces: exact paths, a chain that shows a change, and bounds that are told when they are met."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import canonical, loads
from harness.engine.sandbox import Sandbox
from harness.errors import VerifyError
from harness.records import Coverage, to_json
from harness.store import LocalStore
from harness.traces.records import (
    DENIED,
    FILESYSTEM,
    CallLine,
    EndLine,
    MarkerLine,
    OverflowLine,
    PathLine,
    bytes_of,
    read_lines,
    text_of,
)
from harness.traces.rights import problems
from harness.traces.tracer.table import Table, lines
from harness.traces.tracing import Tracer
from tests.conftest import ROOT


def _trace(table: Table | None = None) -> list[bytes]:
    if table is None:
        table = Table()
        table.markers.append(("/", 5))
        table.new((b"/a\xff\\b", "open", True), 5, [3, 20, 30, 7, "cat"])
        table.new((b"/z", "exec", False), 2, [1, 10, 10, 8, None])
        table.events = 4
    return list(lines(table, "path", ("path", "op", "inside")))


@given(st.binary(max_size=60))
def test_a_path_is_text_and_back(path: bytes) -> None:
    assert bytes_of(text_of(path)) == path
    text_of(path).encode()


def test_a_trace_reads_back_in_the_order_of_first_events() -> None:
    marker, first, second, end = read_lines(_trace())
    assert isinstance(marker, MarkerLine) and marker.path == "/"
    assert isinstance(first, PathLine) and (first.path, first.inside, first.command) == ("/z", False, None)
    assert isinstance(second, PathLine) and (second.path, second.count, second.last_us) == ("/a\\xff\\\\b", 3, 30)
    assert isinstance(end, EndLine) and (end.events, end.overflows) == (4, 0)


@given(st.lists(st.tuples(st.binary(max_size=20), st.text(st.characters(exclude_categories=["Cs"]), max_size=15))))
def test_lines_are_canonical_whatever_they_hold(rows: list[tuple[bytes, str]]) -> None:
    table = Table()
    for path, command in rows:
        table.rows[path, "open", True] = [1, 1, 1, 1, command]
    raw = _trace(table)
    assert [canonical(loads(line)) + b"\n" for line in raw] == raw
    assert [to_json(record) + b"\n" for record in read_lines(raw)] == raw


@given(st.data())
def test_a_change_is_seen(data: st.DataObject) -> None:
    raw = _trace()
    index = data.draw(st.integers(0, len(raw) - 1))
    change = data.draw(st.sampled_from(["cut", "drop", "twice", "edit", "swap"]))
    if change == "cut":
        raw = raw[:index]
    elif change == "drop":
        raw.pop(index)
    elif change == "twice":
        raw.insert(index, raw[index])
    elif change == "swap":
        index = min(index, len(raw) - 2)
        raw[index], raw[index + 1] = raw[index + 1], raw[index]
    else:
        index = min(index, len(raw) - 2)  # an edit of the last line is for the trace's own digest to tell
        raw[index] = raw[index].replace(b"1", b"2").replace(b'"at_us":5', b'"at_us":6')
    with pytest.raises(VerifyError):
        list(read_lines(raw))


@pytest.mark.parametrize("line", [b"", b"{", b"\xff\n", b'{"kind":"nothing","prev":null,"seq":0}', b"[]", b"null"])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    with pytest.raises(VerifyError, match="trace line 1"):
        list(read_lines([line]))


def test_a_table_that_is_full_says_so() -> None:
    table = Table(rows=2, size=8)
    for name in (b"/aaa", b"/bbbbbbb", b"/c", b"/d"):
        table.new((name, "open", True), len(name), [1, 1, 1, 1, None])
    assert [key[0] for key in table.rows] == [b"/aaa", b"/c"]
    found = list(read_lines(_trace(table)))
    overflow, end = found[-2:]
    assert isinstance(overflow, OverflowLine) and overflow.count == 2 and "more distinct" in overflow.reason
    assert isinstance(end, EndLine) and end.overflows == 2


def test_an_address_or_a_call_is_a_line_too() -> None:
    table = Table()
    table.rows["connect", "unix:/run/x", "ENOENT"] = [1, 1, 2, 3, "curl"]
    line, _ = read_lines(lines(table, "call", ("call", "target", "errno")))
    assert isinstance(line, CallLine) and (line.target, line.errno) == ("unix:/run/x", "ENOENT")


def test_an_engine_on_another_kernel_leaves_none(tmp_path: Any) -> None:
    tracer = Tracer(LocalStore(tmp_path))
    tracer.arm(cast(Sandbox, SimpleNamespace(pid=None, id="x")))
    for channel in (FILESYSTEM, DENIED):
        record = tracer.record(channel)
        assert (record.coverage, record.lines) == (Coverage.NONE, None)
        assert record.reason == problems(same_kernel=False)[channel] == "the engine's kernel is not this one"


def test_a_solver_that_never_ran_leaves_none(tmp_path: Any) -> None:
    tracer = Tracer(LocalStore(tmp_path))
    assert {tracer.record(channel).reason for channel in (FILESYSTEM, DENIED)} == {"the solver never ran"}


@pytest.mark.skipif(sys.platform != "linux", reason="users are other things elsewhere")
def test_who_may_not_trace_is_told_why() -> None:
    program = (
        "import os\nimport harness.traces.tracer.calls, harness.traces.tracer.files\n"
        "from harness.traces.rights import problems\n"
        "os.getuid() or os.setresuid(65534, 65534, 65534)\nprint(problems())"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "fanotify_init: Operation not permitted" in said
    assert DENIED in said and "Operation not permitted" in said.split(DENIED)[1]

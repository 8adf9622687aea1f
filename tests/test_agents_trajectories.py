"""Transcripts become ATIF: what they hold, what they lack, and nothing that an agent writes can break it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Coverage
from harness.solvers.agent import TranscriptKind
from harness.solvers.transcripts import media_type
from harness.store import LocalStore
from harness.suites.foreign.atif import Agent, Step, Trajectory
from harness.suites.foreign.leaving import Left, to_trajectory
from harness.trajectories import Converted, convert
from tests.agents_samples import AIDER, CLAUDE, MINI, OPENCODE, QWEN, SAMPLES
from tests.card_rig import Attempt, make_record
from tests.plans import plan

AGENT = Agent(name="mine", version="1")
STRUCTURED = sorted(set(SAMPLES) - {TranscriptKind.AIDER})


def read(kind: TranscriptKind, data: bytes) -> Converted:
    found = convert(kind, data, AGENT, prompt="Fix it.")
    if found.trajectory is not None:
        text = found.trajectory.model_dump_json(exclude_none=True)
        assert Trajectory.model_validate_json(text) == found.trajectory
        text.encode()
    assert found.reason
    assert "\n" not in found.reason
    assert (found.trajectory is None) is (found.coverage is Coverage.NONE)
    return found


def agents(found: Converted) -> list[Step]:
    assert found.trajectory is not None
    return [step for step in found.trajectory.steps if step.source == "agent"]


@pytest.mark.parametrize("kind", STRUCTURED)
def test_each_form_gives_the_same_story(kind: TranscriptKind) -> None:
    found = read(kind, SAMPLES[kind])
    assert (found.coverage, found.reason) == (Coverage.FULL, "every line was read")
    assert found.trajectory is not None
    assert [step.message for step in found.trajectory.steps if step.source == "user"] == ["Fix it."]
    first, last = agents(found)
    assert (first.message, last.message) == ("I look.", "Done.")
    assert first.reasoning_content is not None
    assert first.reasoning_content.endswith("Hm.")
    assert first.tool_calls is not None
    assert [(one.tool_call_id, *one.arguments.values()) for one in first.tool_calls] == [("t1", "ls")]
    assert first.observation is not None
    assert [(one.source_call_id, one.content) for one in first.observation.results] == [("t1", "a.py")]
    assert (last.tool_calls, last.observation) == (None, None)
    for step in (first, last):
        assert step.metrics is not None
        assert (step.metrics.prompt_tokens, step.metrics.completion_tokens, step.metrics.cached_tokens) == (
            1230,
            100,
            200,
        )
    totals = found.trajectory.final_metrics
    assert totals is not None
    assert (totals.total_prompt_tokens, totals.total_completion_tokens) == (2460, 200)
    if kind is not TranscriptKind.OPENCODE:
        assert {first.model_name, last.model_name} == {"m-1"}
    if kind is not TranscriptKind.MINI:
        assert found.trajectory.session_id == "s-1"


def test_a_history_in_markdown_says_that_it_is_not_all() -> None:
    found = read(TranscriptKind.AIDER, AIDER)
    assert found.coverage is Coverage.PARTIAL
    assert "no calls" in found.reason
    first, last = agents(found)
    assert "<<<<<<< SEARCH" in str(first.message)
    assert ">>>>>>> REPLACE" in str(first.message)
    assert first.observation is not None
    assert "Applied edit to a.py" in str(first.observation.results[0].content)
    assert last.message == "Done."
    assert first.metrics is None


def test_what_is_printed_by_claude_and_qwen_reads_as_well() -> None:
    printed = CLAUDE.replace(b'"sessionId"', b'"session_id"')
    assert len(agents(read(TranscriptKind.CLAUDE, printed))) == 2
    as_list = b"[" + b",".join(printed.splitlines()) + b"]"
    assert len(agents(read(TranscriptKind.QWEN, as_list))) == 2


@pytest.mark.parametrize("kind", STRUCTURED)
def test_a_transcript_that_was_cut_is_partial(kind: TranscriptKind) -> None:
    whole = SAMPLES[kind]
    found = read(kind, whole[: len(whole) - 9])
    if kind is TranscriptKind.MINI:
        assert (found.coverage, found.reason) == (Coverage.NONE, "is not one JSON object")
        return
    assert (found.coverage, found.reason) == (Coverage.PARTIAL, "1 pieces could not be read")
    assert agents(found)[0].message == "I look."


def test_how_an_agent_ended_is_said() -> None:
    limits = MINI.replace(b'{"exit_status": "Submitted"}}]', b'{"exit_status": "LimitsExceeded"}}]')
    assert read(TranscriptKind.MINI, limits).reason == "the agent ended with LimitsExceeded"
    failed = OPENCODE + b'{"type": "error", "sessionID": "s-1", "error": {"name": "APIError"}}\n'
    assert read(TranscriptKind.OPENCODE, failed).reason == "the agent ended with an error"


@pytest.mark.parametrize("kind", list(TranscriptKind))
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"{}",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"a":' * 5_000,
        b"\xff\xfe\x00",
        b'{"type":"assistant"}\n' * 3,
        b'{"type":"assistant","message":{"content":[null,1,"x",{}],"usage":[]}}',
        b'{"type":"assistant","message":"text"}',
        b'{"messages":[null,{"role":"assistant","content":null}]}',
        b'{"part":{"messageID":1,"tokens":{"input":-1}},"type":"step_finish"}',
        b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"?","content":"lost"}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"n","input":{"x":NaN}}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud800"}]}}',
    ],
)
def test_nonsense_is_read_as_far_as_it_goes(kind: TranscriptKind, data: bytes) -> None:
    read(kind, data)


def test_deep_and_strange_arguments_can_be_written() -> None:
    deep = b'{"x":' * 300 + b"1" + b"}" * 300
    line = (
        b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"n","input":%s}]}}'
        % deep
    )
    (step,) = agents(read(TranscriptKind.CLAUDE, line))
    assert step.tool_calls is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def test_a_kind_that_is_a_list_is_none() -> None:
    """Found by the law below: a list is in no set."""
    lines = [b'{"type": [], "payload": {"type": []}}', b'{"type": "response_item", "payload": {"type": []}}', b"[]"]
    for kind in STRUCTURED:
        convert(kind, b"\n".join(lines), AGENT, prompt="p")


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(STRUCTURED), data=st.data())
def test_no_value_anywhere_breaks_a_reader(kind: TranscriptKind, data: st.DataObject) -> None:
    """Any one value of a real transcript is replaced by any other."""
    whole = kind is TranscriptKind.MINI
    documents = [json.loads(part) for part in ([MINI] if whole else SAMPLES[kind].splitlines())]
    places: list[tuple[object, object]] = []

    def collect(value: object) -> None:
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in pairs:
            places.append((value, key))
            collect(inner)

    collect(documents)
    holder, key = data.draw(st.sampled_from(places), label="place") if len(places) < 500 else places[0]
    holder[key] = data.draw(JSON, label="value")  # type: ignore[index]
    read(kind, b"\n".join(json.dumps(one).encode() for one in documents))


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(list(TranscriptKind)), cut=st.integers(0, 4000), noise=st.binary(max_size=30))
def test_no_cut_and_no_noise_breaks_a_reader(kind: TranscriptKind, cut: int, noise: bytes) -> None:
    data = SAMPLES[kind]
    read(kind, data[: cut % len(data)] + noise + data[cut % len(data) :])
    read(kind, noise)


def test_an_old_line_is_not_lost_to_a_new_kind() -> None:
    found = read(TranscriptKind.QWEN, QWEN + b'{"type": "a kind of next year", "message": {"parts": 3}}\n')
    assert found.coverage is Coverage.FULL


def test_a_run_s_export_has_an_agent_s_own_turns_and_what_the_record_says(tmp_path: Path) -> None:
    store, of = LocalStore(tmp_path), plan(1, 1, 1)
    record = make_record(store, of, of.cells()[0], 1, Attempt())
    assert record.solve is not None

    def left(data: bytes) -> tuple[Trajectory, str]:
        assert record.solve is not None
        solve = record.solve.model_copy(update={"transcript": store.put(data, media_type(TranscriptKind.CLAUDE))})
        one = Left(record.model_copy(update={"solve": solve}), of.solvers[0], "t0-upstream")
        made, lost = to_trajectory(one, "Fix it.", store)
        assert Trajectory.model_validate_json(made.model_dump_json(exclude_none=True)) == made
        assert made.session_id == record.cell.key and made.extra is not None
        assert (made.extra["outcome"], made.extra["task"]) == ("solved", "t0-upstream")
        assert made.final_metrics is not None and made.final_metrics.extra is not None
        assert made.final_metrics.extra["energy_active_uj"] == record.solve.energy.active_uj
        return made, lost

    whole, lost = left(CLAUDE)
    assert (lost, whole.notes, len(whole.steps)) == ("", None, 3)
    assert whole.steps[1].tool_calls is not None and whole.extra is not None
    assert whole.extra["agent_session_id"] == "s-1"
    cut, lost = left(CLAUDE[:-9])
    assert (
        len(cut.steps) == 2
        and lost == "steps: 1 pieces could not be read"
        and cut.notes == "1 pieces could not be read"
    )
    nothing, lost = left(b"\xff")
    assert [step.message for step in nothing.steps] == ["Fix it.", f"out {record.cell.key} 1"]
    assert "not recorded" in lost and nothing.notes is not None

"""Which turn is next, by which of a client's tools, and in which words."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.gateway.scripted import shell
from harness.gateway.scripted.asked import Call, Said
from harness.gateway.scripted.plan import next_step
from harness.gateway.scripted.schema import smallest
from harness.gateway.scripted.script import WriteSpec
from tests import scripted_rig as rig
from tests.scripted_rig import (
    CLAUDE,
    CODEX,
    CODEX_CODE,
    CODEX_LOCAL,
    CODEX_SHELL,
    GEMINI,
    MINI,
    OPENCODE,
    QWEN,
    STRANGER,
    VENDOR,
    asked,
    function,
    steps,
    text,
)

TURNS = """
turns:
  - say: I look.
    tool: {shell: ls}
  - write_turn
  - say: All done.
    done: true
""".replace("write_turn", 'tool: {write: {path: src/new.py, content: "x = 1\\n"}}')


PLACE = "/workspace/src/new.py"
BY_SHELL = "mkdir -p -- src && unlink src/new.py 2>/dev/null; printf %s 'eCA9IDEK' | base64 -d >> src/new.py"
PATCH = "*** Begin Patch\n*** Add File: src/new.py\n+x = 1\n*** End Patch\n"
FOUND = {
    "claude": (CLAUDE, ("Bash", {"command": "ls"}), ("Write", {"file_path": PLACE, "content": "x = 1\n"})),
    "codex": (CODEX, ("exec_command", {"cmd": "ls"}), ("apply_patch", PATCH)),
    "codex-shell": (
        CODEX_SHELL,
        ("shell", {"command": ["bash", "-lc", "ls"]}),
        ("shell", {"command": ["bash", "-lc", BY_SHELL]}),
    ),
    "codex-local": (
        CODEX_LOCAL,
        ("local_shell", {"command": ["bash", "-lc", "ls"]}),
        ("local_shell", {"command": ["bash", "-lc", BY_SHELL]}),
    ),
    "gemini": (
        GEMINI,
        ("run_shell_command", {"command": "ls"}),
        ("write_file", {"file_path": PLACE, "content": "x = 1\n"}),
    ),
    "opencode": (
        OPENCODE,
        ("bash", {"command": "ls", "description": "scripted"}),
        ("write", {"filePath": PLACE, "content": "x = 1\n"}),
    ),
    "qwen": (
        QWEN,
        ("run_shell_command", {"command": "ls", "is_background": False}),
        ("write_file", {"file_path": PLACE, "content": "x = 1\n"}),
    ),
    "mini": (MINI, ("bash", {"command": "ls"}), ("bash", {"command": BY_SHELL})),
    "vendor": (
        VENDOR,
        ("bash", {"command": "ls"}),
        ("str_replace_based_edit_tool", {"command": "create", "path": PLACE, "file_text": "x = 1\n"}),
    ),
    "stranger": (
        STRANGER,
        ("do_it", {"script": "ls", "reason": "scripted", "times": 1}),
        ("do_it", {"script": BY_SHELL, "reason": "scripted", "times": 1}),
    ),
}


@pytest.mark.parametrize("client", FOUND)
def test_known_clients_get_their_own_tools(client):
    tools, shell_call, write_call = FOUND[client]
    first, second, third, *_ = steps(rig.script(TURNS), tools=tools)
    assert [(one.name, one.arguments) for one in first.calls] == [shell_call]
    assert [(one.name, one.arguments) for one in second.calls] == [write_call]
    assert (third.say, third.calls) == ("All done.", ())


def test_codex_in_code_mode_gets_a_program():
    first, *_ = steps(rig.script(TURNS), tools=CODEX_CODE)
    (call,) = first.calls
    assert (call.name, call.kind) == ("exec", "custom")
    assert '"ls"' in call.arguments and "tools.exec_command" in call.arguments


def test_codex_offers_newer_models_their_tools_in_an_item_of_the_input():
    exec_tool = {"type": "custom", "name": "exec", "description": "runs JavaScript"}
    space = {"type": "namespace", "name": "functions", "tools": [exec_tool]}
    item = {"type": "additional_tools", "role": "developer", "tools": [space]}
    request = rig.read(rig.Api.RESPONSES, {"model": rig.MODEL, "input": [item, {"role": "user", "content": "do it"}]})
    (call,) = next_step(rig.script(TURNS), request).calls
    assert (call.name, call.kind, call.namespace) == ("exec", "custom", "functions")


def test_a_client_that_wants_one_call_at_a_time_gets_one():
    script = rig.script("turns: [{say: a, tools: [{write: {path: a, content: a}}, {shell: ls}, {delete: b}]}]")
    together = steps(script, tools=CLAUDE)
    single = steps(script, tools=CLAUDE, parallel=False)
    assert [[call.name for call in one.calls] for one in together] == [["Write", "Bash", "Bash"], []]
    assert [[call.name for call in one.calls] for one in single] == [["Write"], ["Bash"], ["Bash"], []]
    assert [one.say for one in single] == ["a", "", "", "Done."]


@pytest.mark.parametrize("forget", ["nothing", "ids"])
def test_the_next_turn_is_read_off_the_request(forget):
    past, turns = [Said("An example from the prompt."), Said("", (Call("Bash", {"command": "pwd"}),))], []
    for _ in range(4):
        step = next_step(rig.script(TURNS), asked(CLAUDE, past))
        turns.append(step.turn)
        calls = tuple(replace(one, id="") for one in step.calls) if forget == "ids" else step.calls
        past.append(Said(step.say, calls))
    assert turns == [0, 1, 2, 3]


def test_ids_are_new_in_a_conversation_that_goes_on_for_ever():
    script = rig.script("turns: [{say: a, tool: {shell: ls}}]")
    past, ids = [], set()
    for _ in range(5):
        step = next_step(script, asked(MINI, past, system="then COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"))
        past.append(Said(step.say, step.calls))
        ids |= {one.id for one in step.calls}
    assert len(ids) == 5


@given(chosen=st.permutations(range(3)))
def test_turns_that_a_client_forgot_are_behind_it_all_the_same(chosen):
    """A client may compact its history: the last answer that it still has counts."""
    script = rig.script(TURNS)
    all_steps = steps(script, tools=CLAUDE)
    kept = chosen[: len(chosen) // 2 + 1]
    past = [Said(all_steps[one].say, all_steps[one].calls) for one in sorted(kept)]
    assert next_step(script, asked(CLAUDE, past)).turn == max(kept) + 1


# ----------------------------------------------------------------------------------------------------- asides


def test_requests_without_a_tool_that_serves_are_asides():
    script = rig.script(TURNS)
    for tools in ((), (function("WebSearch", ["query"], query=text()),)):
        assert next_step(script, asked(tools)).turn == -1
    assert next_step(script, asked(CLAUDE, limit=1)).turn == -1
    assert next_step(rig.script("turns: [{say: hi}]"), asked()).turn == 0


def test_an_aside_that_wants_json_gets_the_smallest():
    kind = {"type": "OBJECT", "properties": {"next": {"type": "STRING", "enum": ["user", "model"]}}}
    step = next_step(rig.script(TURNS), asked(schema=kind | {"required": ["next"]}))
    assert (step.turn, json.loads(step.say)) == (-1, {"next": "user"})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "integer", "minimum": 3}, "minItems": 2}, [3, 3]),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"const": 7}}}, 7),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, None),
        ({"type": ["string", "null"], "minLength": 10}, "scripted.."),
        ({"properties": {"a": {"default": []}}, "required": ["a", "b"]}, {"a": [], "b": None}),
        ({}, None),
    ],
)
def test_the_smallest_value_of_a_schema(schema, value):
    assert smallest(schema) == value


def test_a_schema_without_end_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert smallest(node) is not None


# --------------------------------------------------------------------------------------------------- dialects


def test_mini_gets_one_command_an_answer_and_its_own_end():
    script = rig.script("dialect: mini\n" + TURNS)
    system = "```mswea_bash_command ... echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    said = [one.say for one in steps(script, system=system)]
    assert said[0] == "THOUGHT: I look.\n\n```mswea_bash_command\nls\n```"
    assert said[1].endswith(f"```mswea_bash_command\n{BY_SHELL}\n```")
    assert said[2] == ("THOUGHT: All done.\n\n```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```")


def test_mini_with_a_tool_ends_by_the_tool():
    said = steps(rig.script(TURNS), tools=MINI, system="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    assert said[2].calls[0].arguments == {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}


EDIT = """
dialect: auto
turns:
  - say: I edit.
    tools:
      - write: {path: a.py, content: "new", old: "old\\n"}
      - write: {path: b.py, content: "made\\n"}
"""


def test_aider_gets_edit_blocks():
    (step, _) = steps(rig.script(EDIT), system="use a *SEARCH/REPLACE block*")
    assert step.say == (
        "I edit.\n\n"
        "a.py\n```\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\n"
        "b.py\n```\n<<<<<<< SEARCH\n=======\nmade\n>>>>>>> REPLACE\n```"
    )


def test_aider_in_its_whole_file_format_gets_files():
    (step, _) = steps(rig.script(EDIT), system="return a *file listing*")
    assert step.say == "I edit.\n\na.py\n```\nnew\n```\n\nb.py\n```\nmade\n```"


def test_aider_gets_the_same_again_when_it_took_none_of_it():
    """It asks once more after an answer that edits files which it had not shown."""
    script = rig.script(EDIT)
    how = {"system": "use a *SEARCH/REPLACE block*"}
    first = next_step(script, asked(**how))
    past = [Said(first.say)]
    users = ("do it", "I added these files to the chat: a.py")
    assert next_step(script, asked(past=past, users=users, **how)).say == first.say
    assert next_step(script, asked(past=past, **how)).turn == 1


def test_a_worker_gets_the_reply_or_fenced_files():
    step = next_step(rig.script("dialect: reply\n" + TURNS), asked())
    assert step.say == "I look."
    fenced = 'dialect: reply\nturns: [{say: Here., tool: {write: {path: a.py, content: "```"}}}]'
    step = next_step(rig.script(fenced), asked())
    assert step.say == "Here.\n\n````python\n```\n````"
    for dialect in ("reply", "auto"):
        step = next_step(rig.script(f"dialect: {dialect}\nreply: The answer.\n" + TURNS), asked())
        assert step.say == "The answer."
    assert next_step(rig.script("dialect: auto\n" + TURNS), asked()).turn == -1
    assert next_step(rig.script("dialect: auto\nreply: x\n" + TURNS), asked(CLAUDE)).calls


def test_a_refusal_calls_nothing_in_any_dialect():
    for dialect in ("tools", "aider", "mini", "reply"):
        step = next_step(rig.script(f"dialect: {dialect}\nturns: [{{refuse: true}}]"), asked(CLAUDE))
        assert step.refuse and step.say and not step.calls


def test_a_call_by_name_needs_no_such_tool():
    step = next_step(rig.script("turns: [{tool: {call: {name: nosuch, arguments: {a: [1]}}}}]"), asked(CLAUDE))
    assert (step.calls[0].name, step.calls[0].arguments) == ("nosuch", {"a": [1]})


# ----------------------------------------------------------------------------------------------- exact bytes

NAMES = st.sampled_from(["a", "-rf", "b c", "d/e'f", "g/$(h)/i", 'ü/"j"', "k/-l"])


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(NAMES, st.binary(max_size=200), max_size=4), executable=st.booleans())
def test_shell_commands_leave_exact_bytes(tmp_path_factory, files, executable):
    folder = tmp_path_factory.mktemp("made")
    outside = folder.parent / f"{folder.name}-outside"
    outside.write_bytes(b"untouched")
    (folder / "a").symlink_to(outside)
    writes = [
        WriteSpec(path=path, base64=b64encode(data).decode(), executable=executable) for path, data in files.items()
    ]
    for command in shell.packed(one for spec in writes for one in shell.write(spec)):
        subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    for path, data in files.items():
        made = folder / path
        assert made.read_bytes() == data and not made.is_symlink()
        assert bool(made.stat().st_mode & 0o100) is executable
    assert outside.read_bytes() == b"untouched"
    for path in files:
        subprocess.run(["sh", "-c", shell.delete(path)], cwd=folder, check=True)
        assert not (folder / path).exists()


def test_a_long_file_takes_several_answers_each_short_enough_for_a_program(tmp_path):
    content = "".join(f"line {number} of many\n" for number in range(20_000))
    turn = {"say": "w", "tool": {"write": {"path": "big.txt", "content": content}}}
    script = rig.script(json.dumps({"turns": [turn]}))
    found = [one for one in steps(script, tools=MINI) if one.turn == 0]
    assert len(found) > 3 and [one.part for one in found] == list(range(len(found)))
    for step in found:
        (call,) = step.calls
        assert len(call.arguments["command"]) < 128 * 1024
        subprocess.run(["bash", "-c", call.arguments["command"]], cwd=tmp_path, check=True)
    assert (tmp_path / "big.txt").read_text() == content


def test_a_link_is_made(tmp_path):
    subprocess.run(["sh", "-c", shell.link("d/l", b"../to it")], cwd=tmp_path, check=True)
    assert str((tmp_path / "d/l").readlink()) == "../to it"

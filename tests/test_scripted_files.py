"""Script files as people write them, the command that serves them, and what the documentation says of both."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.gateway.records import Bucket
from harness.gateway.scripted.plan import next_step
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.read import load_script, parse_script
from harness.gateway.scripted.script import (
    Aside,
    Dialect,
    FaultKind,
    FaultSpec,
    Script,
    Tokens,
    ToolSpec,
    Turn,
    WriteSpec,
)
from tests import scripted_rig as rig
from tests.cli_rig import heed_signals, trialbox
from tests.scripted_clients_rig import Anthropic
from tests.scripted_rig import CLAUDE, asked

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "scripted-provider.md").read_text()

BAD = {
    "": "holds no table",
    "turns: []": "turns: should have at least 1 item",
    "turns: [{}]": "turns[0]: a turn says or does something",
    "turns: [{say: 1}]": "turns[0].say: input should be a valid string",
    "turns: [{says: a}]": "turns[0].says: is an unknown key; expected one of: say, think, tool",
    "turns: [{say: a}]\nturns: [{say: b}]": "on line 2: the key 'turns' comes twice",
    "turns: [{say: a, tool: {}}]": "turns[0].tool: a tool takes exactly one of shell, write, delete, call",
    "turns: [{tool: {shell: a, delete: b}}]": "takes exactly one of",
    "turns: [{tool: {shell: a}, tools: [{shell: b}]}]": "a turn takes either tool or tools",
    "turns: [{done: true, tool: {shell: a}}]": "a turn that is done or refuses calls no tool",
    "turns: [{tool: {write: {path: a}}}]": "write takes either content or base64",
    "turns: [{tool: {write: {path: a, base64: '%'}}}]": "base64 can't be decoded",
    "turns: [{tool: {write: {path: /etc/a, content: b}}}]": "should be relative",
    "turns: [{tool: {delete: ../a}}]": "should be relative",
    "turns: [{say: a, usage: {input: -1}}]": "turns[0].usage.input",
    "turns: [{say: a, usage: {input: 1.5}}]": "turns[0].usage.input",
    "turns: [{say: a, fault: {kind: rate_limit}}]": "turns[0].fault.kind: input should be 'rate_limited'",
    "turns: [{say: a, fault: {kind: cut, times: 0}}]": "turns[0].fault.times",
    "dialect: chat\nturns: [{say: a}]": "dialect: input should be 'tools'",
    "schema: 2\nturns: [{say: a}]": "schema",
    "turns: &a [{say: a}]\nmodels: *a": "on line 2: an alias is not taken",
    "turns: [{say: !!python/name:os.system a}]": "could not determine a constructor",
    "turns: [{say: !!binary YQ==}]": "could not determine a constructor",
    "turns: [{say: !!int a}]": "a number that can't be read",
    "? [a]\n: b": "a key is a plain text",
    "turns: [": "is not plain YAML",
    "\x00": "is not YAML",
    "[" * 5000: "nests too deep",
}


@pytest.mark.parametrize("text", BAD)
def test_a_mistake_is_one_line_that_names_the_file_the_field_and_a_remedy(text):
    with pytest.raises(UserError) as failed:
        parse_script(text.encode(), "bad.yaml")
    line = str(failed.value)
    assert line.startswith("bad.yaml: ") and BAD[text] in line and "\n" not in line
    assert failed.value.remedy


def test_words_that_older_yaml_takes_for_something_else_are_texts():
    script = rig.script("turns: [{say: yes}, {say: on}, {say: 2026-01-01}, {say: 12:30:00}, {say: 0x1f}, {say: 1_000}]")
    assert [turn.say for turn in script.turns] == ["yes", "on", "2026-01-01", "12:30:00", "0x1f", "1_000"]


def test_json_is_a_script_too():
    assert rig.script(json.dumps({"turns": [{"say": "a\u2028b", "tool": {"shell": "ls"}}]})).turns[0].say == "a\u2028b"


def test_not_utf8_and_not_there(tmp_path):
    with pytest.raises(UserError, match="is not UTF-8"):
        parse_script(b"turns: [{say: \xff}]")
    with pytest.raises(UserError, match="is missing"):
        load_script(tmp_path / "none.yaml")


# -------------------------------------------------------------------------------------------------- the command


class Served:
    """The command as a process, interrupted at the end."""

    def __init__(self, path, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trialbox.cli", "provider", str(path), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals,  # noqa: PLW1509 - no thread of a test runs while it starts one
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        head = self.process.stderr if "--json" in words else self.process.stdout
        self.url, self.key = (head.readline().split()[1] for _ in ("url", "key"))

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "script.yaml"
    path.write_text("turns: [{say: hi, tool: {shell: ls}, usage: {input: 7, output: 5}}]")
    return path


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_interrupted_and_tells_what_was_served(written, how):
    served = Served(written, "--log")
    client = Anthropic(served.url, served.key, stream=True)
    assert client.ask()[0] == "hi"
    code, out, err = served.end(how)
    assert code == 0
    one, sums = out.strip().splitlines()
    assert "/v1/messages" in one and "turn 0" in one and "calls Bash" in one
    assert sums == (
        "1 requests, 1 answered with tokens: input 7, cache_read 0, cache_write_5m 0, cache_write_1h 0, output 5"
    )
    assert one in err


def test_json_is_one_object(written):
    served = Served(written, "--json")
    Anthropic(served.url, served.key, stream=False).ask()
    code, out, _ = served.end()
    found = json.loads(out)
    assert (code, found["url"], found["key"]) == (0, served.url, served.key)
    assert [one["usage"]["input"] for one in found["served"]] == [7]


def test_a_port_that_is_taken_is_one_line(written, tmp_path):
    with ScriptedProvider() as server:
        port = server.url.rpartition(":")[2]
        ran = trialbox(tmp_path / "home", "provider", str(written), "--port", port)
    assert (ran.code, ran.err.count("\n")) == (2, 1) and port in ran.err


@pytest.mark.parametrize("port", ["70000", "-1", "x"])
def test_a_port_that_is_none_is_one_line(written, tmp_path, port):
    ran = trialbox(tmp_path / "home", "provider", str(written), f"--port={port}")
    assert ran.code == 2 and "--port" in ran.line


def test_a_bad_script_exits_with_2(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("turns: [{sya: hi}]")
    ran = trialbox(tmp_path / "home", "provider", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.line.startswith(f"trialbox: {path}: turns[0].sya: is an unknown key; expected one of: say,")


def test_it_ends_at_once_while_a_request_is_kept_waiting():
    script = rig.script("turns: [{say: hi, fault: {kind: silence, wait_ms: 3600000}}]")
    with ScriptedProvider() as server:
        key = server.add(script)
        # A client that asks and does not wait: the request is under way when the provider is closed.
        body = json.dumps(rig.body_of(rig.Api.CHAT, "x"))
        asking = subprocess.Popen(
            [sys.executable, "-c", _ASK, server.url, key, body], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        while server.requests == 0:
            assert asking.poll() is None
            time.sleep(0.01)
    assert asking.communicate(timeout=60)[0] == b""
    (served,) = server.truth(key)
    assert (served.status, served.cut, served.usage) == (None, True, None)


_ASK = """
import sys, urllib.request
url, key, body = sys.argv[1:]
headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
print(urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat/completions", body.encode(), headers)).read())
"""


# -------------------------------------------------------------------------------------------- the documentation


def test_the_example_is_a_script_and_does_what_it_says():
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    script = parse_script(text.encode())
    step = next_step(script, asked(CLAUDE))
    assert [one.arguments for one in step.calls] == [{"command": "ls tests"}]
    assert script.turns[1].usage.of(Bucket.CACHE_READ) == 1200
    assert script.turns[1].fault.kind is FaultKind.RATE_LIMITED


def test_the_python_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs", "exec"), {})


@pytest.mark.parametrize("model", [Script, Turn, ToolSpec, WriteSpec, Tokens, FaultSpec, Aside])
def test_every_field_is_documented(model):
    names = {field.alias or name for name, field in model.model_fields.items()}
    assert {name for name in names if f"`{name}`" not in PAGE} <= {"kind"}
    assert "`kind`" in PAGE


def test_every_dialect_and_fault_is_documented():
    assert {one.value for one in (*Dialect, *FaultKind) if f"`{one.value}`" not in PAGE} == set()

"""The drivers of agents and workers, in sealed containers with the real gateway and the scripted provider."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import InfraError
from harness.gateway.records import Api
from harness.gateway.scripted.script import FaultKind, FaultSpec, Script, Tokens, Turn
from harness.outcomes import Ending, Outcome
from harness.solvers.agent import TranscriptKind, TranscriptSpec
from harness.solvers.manifest import DriverKind, Manifest, Solver
from harness.solvers.transcripts import kind_of
from harness.suites.load import load_task
from tests.agents_rig import AgentRig, agent_rig
from tests.attempt_rig import small_task
from tests.formats_rig import write_function_task

pytestmark = pytest.mark.engine

TOLD = """
import json, os, pathlib, sys, urllib.request
home = pathlib.Path(os.environ["HOME"])
request = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(
    {"model": sys.argv[2], "messages": [{"role": "user", "content": "hello"}]}).encode(),
    {"Authorization": "Bearer " + os.environ["AGENT_KEY"], "Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(request))
print(json.dumps({
    "argv": sys.argv[1:], "stdin": sys.stdin.read(), "said": answer["choices"][0]["message"]["content"],
    "env": {name: os.environ.get(name) for name in ("MODE", "AGENT_KEY")}, "cwd": os.getcwd(),
    "files": {name: (home / name).read_text() for name in ("prompt.md", ".agent/config")},
    "owner": [(home / ".agent/config").stat().st_uid, os.getuid()],
    "cmdlines": [path.read_bytes().decode("latin-1") for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")],
}))
"""


@pytest.fixture
def rig(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Iterator[AgentRig]:
    with agent_rig(engine, images, tmp_path, owner) as rig:
        yield rig


def agent(*argv: str, **more: Any) -> Solver:
    fields = {"api": Api.CHAT, "model": "m-1", "key_env": ("AGENT_KEY",), **more}
    return Solver(manifest=Manifest(name="mine", driver=DriverKind.CLI, argv=argv, **fields))


def says(*texts: str) -> Script:
    return Script(turns=tuple(Turn(say=text) for text in texts))


def test_an_agent_finds_what_its_manifest_says_and_its_key_nowhere_else(rig: AgentRig) -> None:
    solver = agent(
        "python3", "-c", TOLD, "{base_url}", "{model}", "{prompt}", "{prompt_file}", "{workspace}", "{home}",
        "{bundle}",
        effort="high",
        effort_argv=("--effort", "{effort}"),
        env={"MODE": "{model}!"},
        files={".agent/config": "url={base_url}"},
        effort_files={".agent/config": "url={base_url} effort={effort}"},
    )  # fmt: skip
    went = rig.run(solver, small_task(), says("I see."))
    record = went.record
    assert record.solve is not None
    assert record.solve.exit_status == 0, rig.text(record.solve.stderr)
    told = json.loads(rig.text(record.solve.stdout))
    token = told["env"].pop("AGENT_KEY")
    prompt = small_task().prompt
    base = "http://127.0.0.1:8080"
    assert told["argv"][:2] == [base, "m-1"]
    assert told["argv"][2:] == [
        prompt, "/home/agent/prompt.md", "/workspace", "/home/agent", "/opt/solver", "--effort", "high"
    ]  # fmt: skip
    assert (told["stdin"], told["said"], told["cwd"]) == (prompt, "I see.", "/workspace")
    assert told["env"] == {"MODE": "m-1!"}
    assert told["files"] == {"prompt.md": prompt, ".agent/config": f"url={base} effort=high"}
    assert told["owner"] == [10001, 10001]
    assert not [line for line in told["cmdlines"] if token in line]
    assert token not in json.dumps(record.model_dump(mode="json"))
    assert prompt not in record.solve.argv
    assert "{prompt}" in record.solve.argv
    assert [one.status for one in went.truth] == [200]
    assert went.closed.traffic.requested_models == ("m-1",)
    assert went.closed.traffic.usage.stated == 1300


def test_an_agent_without_standard_input_reads_none(rig: AgentRig) -> None:
    went = rig.run(agent("sh", "-c", "wc -c", stdin="none"), small_task(), says("-"))
    assert went.record.solve is not None
    assert rig.text(went.record.solve.stdout).strip() == "0"


def test_without_a_gateway_an_agent_is_the_run_s_fault(rig: AgentRig) -> None:
    record = rig.rig.run(agent("true").manifest, task=small_task())
    assert record.outcome is Outcome.INFRA
    assert record.solve is None


SPEC = TranscriptSpec(path=".agent/*/log-*.jsonl", kind=TranscriptKind.CLAUDE)


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("mkdir -p a b && echo old > a/log-1.jsonl && sleep 0.05 && echo new > b/log-0.jsonl", "new\n"),
        ("mkdir -p a && echo here > 'a/log-a b.jsonl'", "here\n"),
        ("mkdir -p a && echo deep > a/log && mkdir a/deep && echo deeper > a/deep/log-1.jsonl", None),
        ("mkdir -p a && ln -s /etc/shadow a/log-1.jsonl && ln -s /etc b && cp -r /etc/skel b/ 2>/dev/null; true", None),
        ("mkdir -p a && mkfifo a/log-1.jsonl", None),
        ("mkdir -p a && printf x > a/log-1.jsonl && chmod 000 a/log-1.jsonl a", "x"),
        ("true", None),
    ],
    ids=["newest", "spaces", "other depth", "links", "pipe", "no rights", "none"],
)
def test_a_transcript_is_the_newest_plain_file_of_the_pattern(rig: AgentRig, script: str, left: str | None) -> None:
    solver = agent("sh", "-c", f"mkdir -p $HOME/.agent && cd $HOME/.agent && {script}", transcript=SPEC)
    record = rig.run(solver, small_task(), says("-")).record
    assert record.solve is not None
    assert record.solve.ending is Ending.COMPLETED
    found = record.solve.transcript
    assert (rig.text(found) if found is not None else None) == left
    assert found is None or kind_of(found.media_type) is TranscriptKind.CLAUDE


def test_a_transcript_may_be_what_is_printed(rig: AgentRig) -> None:
    spec = TranscriptSpec(path="stdout", kind=TranscriptKind.OPENCODE)
    record = rig.run(agent("echo", "{}", transcript=spec), small_task(), says("-")).record
    assert record.solve is not None
    assert record.solve.transcript is not None
    assert record.solve.transcript.digest == record.solve.stdout.digest


APIS = tuple(Api)


def worker(api: Api, **more: Any) -> Solver:
    return Solver(manifest=Manifest(name="asks", driver=DriverKind.WORKER, api=api, model="m-1", **more))


@pytest.mark.parametrize("api", APIS)
def test_a_worker_answers_in_every_format(rig: AgentRig, tmp_path: Path, api: Api) -> None:
    task = load_task(write_function_task(tmp_path / "runs"))
    went = rig.run(worker(api, effort="high"), task)
    assert went.record.outcome is Outcome.SOLVED, went.record.reason
    assert [(one.api, one.status, one.effort, one.streamed) for one in went.truth] == [(api, 200, "high", False)]
    assert went.closed.traffic.efforts == ("high",)


def test_a_worker_waits_and_asks_again_where_a_provider_is_busy(rig: AgentRig) -> None:
    busy = FaultSpec(kind=FaultKind.RATE_LIMITED, times=2, retry_after_s=0)
    script = Script(turns=(Turn(say="at last", fault=busy, usage=Tokens(input=5, output=2)),))
    went = rig.run(worker(Api.ANTHROPIC), small_task(), script)
    assert went.record.solve is not None
    assert rig.text(went.record.solve.stdout) == "at last"
    assert [one.status for one in went.truth] == [429, 429, 200]
    assert went.closed.traffic.outlasting is None


@pytest.mark.parametrize("kind", [FaultKind.UNAUTHORIZED, FaultKind.MALFORMED, FaultKind.WRONG_TYPE])
def test_a_worker_without_an_answer_says_why(rig: AgentRig, kind: FaultKind) -> None:
    script = Script(turns=(Turn(say="never", fault=FaultSpec(kind=kind, times="always")),))
    went = rig.run(worker(Api.RESPONSES), small_task(), script)
    assert went.record.solve is not None
    assert (went.record.solve.exit_status, rig.text(went.record.solve.stdout)) == (1, "")
    said = rig.text(went.record.solve.stderr)
    assert said.startswith("worker: the model gave no reply: ")
    assert said.count("\n") == 1


def test_only_an_engine_that_fails_stops_the_reading_of_a_transcript(rig: AgentRig) -> None:
    from harness.solvers.transcripts import read_transcript
    from harness.workspace import Workspace

    tools = rig.rig.tools
    with Workspace(tools.engine, tools.base.handle, small_task().limits, tools.owner) as workspace:
        assert read_transcript(SPEC, workspace, b"") is None
        workspace.keeper.destroy()
        with pytest.raises(InfraError):
            read_transcript(SPEC, workspace, b"")

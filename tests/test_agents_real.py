"""The seven agents, for real: sealed, not root, under the limits of the smoke suite; a script is their model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import AGENT_USER, BindMount, Role, SandboxSpec
from harness.gateway.records import Bucket
from harness.gateway.usage import total
from harness.outcomes import Outcome
from harness.records import Coverage
from harness.solvers.cli import fill
from harness.solvers.manifest import BUNDLE
from harness.solvers.transcripts import kind_of
from harness.suites.foreign.atif import Agent
from harness.trajectories import convert
from tests.agents_rig import AgentRig, agent_rig, equipped, smoke_task

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1800)]  # the first use builds the bundle

AGENTS = {
    "aider": ("medium", "claude-opus-4-5-20251101"),
    "claude-code": ("low", "claude-opus-5-5"),
    "codex": ("xhigh", "gpt-5.5"),
    "gemini-cli": ("low", "gemini-3.1-pro-preview"),
    "mini-swe-agent": ("high", "claude-opus-4-5-20251101"),
    "opencode": ("max", "claude-sonnet-4-6"),
    "qwen-code": ("high", "qwen3.7-max"),
}
"""An effort that each takes, and a model."""

EACH = [name if name in {"claude-code", "codex"} else pytest.param(name, marks=pytest.mark.agents) for name in AGENTS]
"""The others' bundles take minutes to build: `nox -s agents` runs all."""


@pytest.fixture
def rig(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Iterator[AgentRig]:
    with agent_rig(engine, images, tmp_path, owner) as rig:
        yield rig


@pytest.mark.parametrize("name", EACH)
def test_an_agent_solves_tasks_and_every_figure_is_the_provider_s(rig: AgentRig, engine: Engine, name: str) -> None:
    effort, model = AGENTS[name]
    (solver,) = equipped(engine, f"{name}:model={model},effort={effort}")
    for task in (smoke_task("bead-string", suite_limits=True), smoke_task("lantern-cues", suite_limits=True)):
        went = rig.run(solver, task)
        record, traffic = went.record, went.closed.traffic
        assert record.solve is not None
        said = rig.text(record.solve.stdout)[-2000:] + rig.text(record.solve.stderr)[-2000:]
        assert (record.outcome, record.solve.exit_status) == (Outcome.SOLVED, 0), said
        assert record.solve.use.oom_kills == 0

        truth = total((one.request_id, one.usage) for one in went.truth if one.billed and one.usage is not None)
        assert {bucket: traffic.usage.of(bucket) for bucket in Bucket} == {
            bucket: truth.of(bucket) for bucket in Bucket
        }
        assert traffic.requests == len(went.truth)
        assert (traffic.requested_models, traffic.served_models) == ((model,), (model,))
        assert traffic.efforts == (effort,)
        assert traffic.denied == 0
        assert traffic.sinkhole.names == (), "it asks for other hosts than its model's"

        own = record.solve.self_reported
        assert own is not None and own.tokens
        if name == "aider":  # counts for itself, and not what its provider states
            assert own.reason.startswith("rounded by the agent")
        else:
            assert sum(own.tokens.values()) == truth.stated
        assert (own.usd is not None) is (name in {"aider", "claude-code", "mini-swe-agent", "opencode"})

        assert record.solve.transcript is not None
        kind = kind_of(record.solve.transcript.media_type)
        assert kind is not None
        data = rig.rig.store.get(record.solve.transcript.digest)
        found = convert(kind, data, Agent(name=name, version="1"), prompt=task.prompt)
        assert found.trajectory is not None
        assert found.coverage is (Coverage.PARTIAL if name == "aider" else Coverage.FULL), found.reason
        assert any("I make the change." in str(step.message) for step in found.trajectory.steps)


@pytest.mark.parametrize("name", EACH)
def test_an_agent_is_the_version_that_its_manifest_names(
    images: Mapping[str, BuiltImage], engine: Engine, owner: str, name: str
) -> None:
    (solver,) = equipped(engine, name)
    spec = SandboxSpec(
        role=Role.PROBE,
        image=images["base"].handle,
        user=AGENT_USER,
        binds=(BindMount(source=str(solver.bundle), target=BUNDLE),),
        memory_mb=512,
    )
    argv = [fill(word, {"bundle": BUNDLE}) for word in solver.manifest.version_argv]
    with Sandbox(engine, spec, owner) as sandbox:
        ran = sandbox.run(argv, timeout_s=300, max_output=10_000, env={"HOME": "/tmp"})
    words = ran.stdout.decode().replace("v", " ").split()
    assert solver.manifest.harness_version in words, (ran.stdout, ran.stderr)


def test_codex_s_web_search_is_taken_out_and_recorded(rig: AgentRig, engine: Engine) -> None:
    (solver,) = equipped(engine, "codex:model=gpt-5.5")
    went = rig.run(solver, smoke_task("bead-string"))
    assert went.record.outcome is Outcome.SOLVED
    assert {kind.value: count for kind, count in went.closed.traffic.stripped.items()} == {"web_search": 2}
    assert not any("web_search" in tool for one in went.truth for tool in one.tools)

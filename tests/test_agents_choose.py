"""Agents and workers after ``--solver``, and what a manifest may say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bundles import Bundle, equip
from harness.errors import UserError
from harness.gateway.records import Api
from harness.solvers import AgentAccess
from harness.solvers.agent import Stdin
from harness.solvers.choose import choose
from harness.solvers.cli import fill, home_files
from harness.solvers.manifest import DriverKind, Manifest, Solver, load_manifest
from tests.agents_rig import AGENTS

ACCESS = AgentAccess(base_url="http://127.0.0.1:8080", token="t0ken", model="m-1", effort="high")


def chosen(text: str) -> Solver:
    (solver,) = choose([text], AGENTS)
    return solver


def test_agents_go_by_name_with_model_and_effort() -> None:
    solvers = choose(["claude-code:model=m-1,effort=high,codex,worker:model=w,provider=google,name=asks"], AGENTS)
    assert [(one.name, one.manifest.model, one.manifest.effort) for one in solvers] == [
        ("claude-code", "m-1", "high"),
        ("codex", "gpt-6.2-sol", "unknown"),
        ("asks", "w", "unknown"),
    ]
    assert [one.manifest.driver.asks_model for one in solvers] == [True, True, True]
    assert not any(one.manifest.driver.scripted for one in solvers)


def test_one_agent_twice_under_two_names() -> None:
    first, second = choose(["codex:effort=low,name=codex-low,codex:effort=high"], AGENTS)
    assert (first.name, second.name) == ("codex-low", "codex")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody", "there is no solver 'nobody'; known: .*worker, aider, claude-code"),
        ("codex:effort=enormous", "codex: does not take effort 'enormous'; it takes none, minimal, low"),
        ("worker:model=m,effort=huge", "worker: does not take effort 'huge'"),
        ("worker", "worker: needs a model; name it: worker:model=MODEL"),
        ("codex:model=two words", "'two words' is no model's name"),
        ("codex:model={effort}", "is no model's name"),
        ("codex:candidate=x,speed=9", "no option 'speed'"),
        ("reference:provider=openai", "no option 'provider'"),
        ("worker:model=m,api=telegraph", "worker: api"),
        ("codex:provider=Not A Name", "codex: provider"),
        ("codex,codex", "named twice"),
        ("cli", "no solver 'cli'"),
    ],
)
def test_mistakes_are_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        choose([text], AGENTS)
    assert "\n" not in str(caught.value)


def write(folder: Path, text: str) -> Path:
    path = folder / "solver.toml"
    path.write_text(f'name = "mine"\ndriver = "cli"\n{text}')
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('argv = ["x"]', "api: a cli solver asks a model"),
        ('api = "chat"', "argv: a cli solver needs a program"),
        ('argv = ["x"]\napi = "chat"\nbundle = "."\nrecipe = "codex"', "recipe: stands beside a bundle"),
        ('argv = ["x"]\napi = "chat"\n[files]\n"../.bashrc" = ""', "files"),
        ('argv = ["x"]\napi = "chat"\n[files]\n"/etc/passwd" = ""', "files"),
        ('argv = ["x"]\napi = "chat"\ntranscript = { path = "/etc/passwd", kind = "mini" }', "transcript"),
        ('argv = ["x"]\napi = "chat"\ntranscript = { path = "a", kind = "diary" }', "transcript"),
        ('argv = ["x"]\napi = "chat"\nkey_env = ["lower"]', "key_env"),
        ('argv = ["x"]\napi = "chat"\nefforts = ["Very High"]', "efforts"),
        ('argv = ["x"]\napi = "chat"\nspeed = 9', "speed"),
    ],
)
def test_a_bad_manifest_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        load_manifest(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_an_agent_of_one_s_own_is_one_manifest(tmp_path: Path) -> None:
    path = write(tmp_path, 'argv = ["sh", "agent.sh"]\napi = "chat"\nefforts = ["low"]\ndefault_model = "m"\n')
    (solver,) = choose([f"{path}:effort=low"])
    assert (solver.manifest.model, solver.manifest.effort, solver.manifest.api) == ("m", "low", Api.CHAT)
    with pytest.raises(UserError, match="does not take effort 'high'; it takes low"):
        choose([f"{path}:effort=high"])


@pytest.mark.parametrize(
    "solver", choose(["aider,claude-code,codex,gemini-cli,mini-swe-agent,opencode,qwen-code"], AGENTS)
)
def test_every_shipped_agent_is_whole(solver: Solver) -> None:
    one = solver.manifest
    assert one.recipe == one.harness == one.name
    assert one.driver is DriverKind.CLI
    assert one.api and one.default_model and one.key_env and one.efforts and one.transcript and one.version_argv
    assert one.effort_argv or one.effort_files
    assert not one.replies
    texts = [*one.argv, *one.env.values(), *one.files.values()]
    assert any("{base_url}" in text for text in texts)
    assert any("{model}" in text for text in texts)
    asked = any("{prompt}" in text or "{prompt_file}" in text for text in one.argv)
    assert asked is (one.stdin is Stdin.NONE)


def test_placeholders_are_replaced_once_and_files_follow_the_effort() -> None:
    assert fill("{model}/{effort}/{other}", {"model": "{effort}", "effort": "e"}) == "{effort}/e/{other}"
    manifest = chosen("gemini-cli:model=m-1,effort=low").manifest
    loud = home_files(manifest, ACCESS, "/workspace", "/p")
    quiet = home_files(manifest, AgentAccess("http://x", "t", "m-1"), "/workspace", "/p")
    text = loud[".gemini/settings.json"].data.decode()
    assert '"thinkingLevel": "high"' in text
    assert '"model": "m-1"' in text
    assert b"thinkingLevel" not in quiet[".gemini/settings.json"].data
    assert "t0ken" not in text


def test_a_solver_without_its_bundle_has_no_identity_yet(tmp_path: Path) -> None:
    solvers = choose(["codex,codex:name=again,noop"], AGENTS)
    with pytest.raises(ValueError, match="the bundle of codex is not there yet"):
        solvers[0].ref()
    asked: list[str] = []

    def have(name: str) -> Bundle:
        asked.append(name)
        return Bundle(name, tmp_path, "sha256:" + "0" * 64, "sha256:" + "1" * 64, 1, 1, False)

    first, again, noop = equip(solvers, have)
    assert asked == ["codex"]
    assert (first.bundle, again.bundle, noop.bundle) == (tmp_path, tmp_path, None)
    assert first.ref().manifest != again.ref().manifest
    assert first.ref().harness_version == "0.171.0"


def test_solvers_that_ask_no_model_keep_their_digests() -> None:
    """What a manifest can say of agents was added later: who says none of it is who they were."""
    manifest = Manifest(name="mine", driver=DriverKind.COMMAND, argv=("sh",))
    assert set(manifest.identity()) == {
        "schema_version",
        "name",
        "driver",
        "argv",
        "env",
        "bundle",
        "candidate",
        "reply",
        "harness",
        "harness_version",
        "model",
        "effort",
    }


def test_a_token_shows_in_no_repr() -> None:
    assert "t0ken" not in repr(ACCESS)

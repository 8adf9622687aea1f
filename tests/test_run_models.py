"""``trialbox run`` with solvers that ask a model: dry by default, and nothing spent before it was confirmed.

The provider that costs money here is the scripted one under another name: on loopback, with a key and prices.
"""

from __future__ import annotations

import json
import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import LABEL, Engine
from harness.engine.images import BuiltImage
from harness.engine.owned import STATE_LABEL
from harness.gateway.calls import SOCKET_FOLDER
from harness.gateway.records import Bucket
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.script import Script, Tokens, Turn
from harness.ledger import Ledger
from harness.money import pusd
from harness.spend_book import SpendBook
from harness.state import State
from tests.cli_rig import Ran, trialbox

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
RUN = ("run", "functions", "--limit", "2", "--concurrency", "1")
PAID = "paid-model"
USED = Tokens(input=1000, cache_read=200, output=80, reasoning=20)
COST = pusd("0.0032")
"""Of one answer, at the prices below."""


def run(home: Path, *arguments: str, program: Sequence[str] = ("trialbox.cli",), **environ: str) -> Ran:
    """The command in an environment without a key."""
    return trialbox(home, *arguments, program=program, **(dict.fromkeys(KEYS, "") | environ))


def state(home: Path, text: str, price: str = "1") -> None:
    """A state folder with settings, and with prices for the model that is paid for."""
    home.mkdir(exist_ok=True)
    rates = {"input": price, "cache_read": "1", "output": "20"}
    table = {
        "schema_version": 1,
        "date": "2026-01-01",
        "unit": "USD per million tokens",
        "note": "made up",
        "prices": [{"provider": "paid", "models": [PAID], "rates": rates, "sources": dict.fromkeys(rates, "made up")}],
    }
    (home / "prices.json").write_text(json.dumps(table))
    (home / "config.toml").write_text(f'[prices]\ntable = "prices.json"\n{text}')


# -------------------------------------------------------------------------------------------------- before it begins


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--solver", "worker:model=m,provider=openai", "--real"], "the environment has no OPENAI_API_KEY"),
        (["--solver", "claude-code:model=m", "--real", "--confirm-spend"], "no ANTHROPIC_API_KEY"),
        (["--solver", "worker:model=m", "--real"], "names no provider"),
        (["--solver", "worker:model=m,provider=nobody", "--real"], "there is no provider 'nobody'; known: anthropic"),
        (
            ["--solver", "codex:model=m", "--provider", "anthropic", "--real"],
            "speaks responses, and provider anthropic",
        ),
        (["--solver", "worker:model=m", "--provider", "openai"], "without --real no provider is"),
        (["--solver", "worker:model=m", "--provider", "scripted", "--real"], "answers dry runs alone"),
        (["--solver", "worker:model=m", "--confirm-spend"], "a dry run spends nothing"),
        (["--solver", "reference", "--real"], "no solver of this run asks a model"),
        (["--solver", "reference", "--provider", "scripted"], "no solver of this run asks a model"),
        (["--solver", "worker:model=m", "--budget-usd", "1"], "no price for m"),
        (["--solver", "worker:model=m", "--budget-usd", "lots"], "'lots' is no amount"),
        (["--solver", "worker:model=m", "--budget-usd", "NaN"], "'NaN' is no amount"),
        (["--solver", "worker:model=m", "--budget-usd", "Infinity"], "'Infinity' is no amount"),
        (["--solver", "worker:model=m,model=n"], "worker has 'model' twice"),
        (["--solver", "worker:model=m", "--budget-tokens", "0"], "0 is too small"),
        (["--solver", "worker:model=m", "--script", "x.yaml", "--real"], "real models answer by themselves"),
        (["--resume", "latest", "--provider", "openai"], "a resumed run keeps what it was planned with"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_begun(tmp_path: Path, arguments: list[str], said: str) -> None:
    home = tmp_path / "state"
    begin = ["run"] if "--resume" in arguments else ["run", "functions"]
    ran = run(home, *begin, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.line
    assert not home.exists()


@pytest.mark.parametrize("real", [(), ("--real",)], ids=["dry", "real"])
def test_a_worker_is_refused_a_task_that_no_reply_answers(tmp_path: Path, real: tuple[str, ...]) -> None:
    home = tmp_path / "state"
    asked = ("run", "smoke", "--solver", "worker:model=gpt-4o,provider=openai", "--task", "bead-string", *real)
    ran = run(home, *asked, OPENAI_API_KEY="sk-x")
    assert (ran.code, ran.out) == (2, "")
    assert "task bead-string: is answered in its workspace, and solver worker only replies" in ran.line
    assert not home.exists()


def test_real_alone_prints_the_estimate_spends_nothing_and_exits_4(tmp_path: Path) -> None:
    home = tmp_path / "state"
    solver = "worker:model=gpt-4o,provider=openai"
    arguments = ("run", "functions", "--solver", solver, "--limit", "3", "--attempts", "2")
    ran = run(home, *arguments, "--real", OPENAI_API_KEY="sk-secret-4711")
    assert ran.code == 4
    assert ran.out.splitlines() == [
        "3 tasks x 2 attempts x 1 metered worker x $0.010 = $0.0600",
        "daily cap $10.0000",
        "Nothing was spent. --confirm-spend dispatches.",
    ]
    assert not home.exists()
    told = run(home, *arguments, "--real", "--json", OPENAI_API_KEY="sk-secret-4711")
    assert told.code == 4
    assert told.json["decision"] == "stop" and told.json["spent_usd"] == "0"
    assert told.json["estimate"]["low_usd"] == told.json["estimate"]["high_usd"] == "0.06"
    assert "sk-secret-4711" not in ran.out + ran.err + told.out + told.err


def test_a_model_without_a_price_is_named_and_not_dispatched_for_a_confirmation(tmp_path: Path) -> None:
    home = tmp_path / "state"
    arguments = (*RUN, "--solver", "worker:model=m,provider=openai", "--real")
    ran = run(home, *arguments, OPENAI_API_KEY="sk-x")
    assert ran.code == 4
    assert "worker: no price for m (prices of 2026-12-01): what it spends is not known, and the daily cap" in ran.out
    assert ran.out.endswith("Nothing was spent. --confirm-spend dispatches once each worker has a price or a bound.\n")
    told = run(home, *arguments, "--json", OPENAI_API_KEY="sk-x").json["estimate"]["workers"]
    assert [(one["unpriced"], one["bound"]) for one in told] == [("no price for m (prices of 2026-12-01)", None)]
    ran = run(home, *arguments, "--confirm-spend", OPENAI_API_KEY="sk-x")
    assert (ran.code, ran.out) == (4, "")
    assert "solver worker: no price for m (prices of 2026-12-01), so the daily cap can't hold what it" in ran.line
    assert not home.exists()
    ran = run(home, *arguments, "--budget-tokens", "9000", "--budget-requests", "1", OPENAI_API_KEY="sk-x")
    assert ran.code == 4 and ran.out.endswith("Nothing was spent. --confirm-spend dispatches.\n")
    assert "can't hold it; each of its attempts may take 9000 tokens and 1 request\n" in ran.out


def test_the_page_shows_what_an_estimate_prints(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs/spending.md").read_text()
    _, commands, _, shown, *_ = page.split("```")
    (line,) = (one for one in commands.splitlines() if one.split("#")[0].rstrip().endswith("--real"))
    arguments = shlex.split(line.split("#")[0])[1:]
    ran = run(tmp_path / "state", *arguments, OPENAI_API_KEY="sk-x")
    assert ran.code == 4
    assert ran.out == shown.removeprefix("\n")


def test_the_fleet_is_every_agent_with_a_key_and_says_what_the_others_lack(tmp_path: Path) -> None:
    ran = run(tmp_path / "state", *RUN, "--solver", "fleet", "--real", "--json", OPENAI_API_KEY="sk-x")
    assert ran.code == 4
    estimate = ran.json["estimate"]
    workers = {one["solver"] for one in estimate["workers"]}
    assert "codex" in workers
    assert estimate["unavailable"]["claude-code"] == "no key: the environment has no ANTHROPIC_API_KEY"
    assert estimate["unavailable"]["qwen-code"] == "names no provider: say qwen-code:provider=NAME, or --provider NAME"
    assert workers.isdisjoint(estimate["unavailable"])


def test_real_without_a_solver_is_the_fleet_and_without_any_key_nothing(tmp_path: Path) -> None:
    home = tmp_path / "state"
    ran = run(home, *RUN, "--real")
    assert (ran.code, ran.out) == (4, "")
    assert "no solver of this run can reach its model, and nothing was spent; set one of" in ran.line
    ran = run(home, *RUN, "--real", OPENAI_API_KEY="sk-x")
    assert ran.code == 4 and ran.out.endswith("Nothing was spent. --confirm-spend dispatches.\n")
    assert not home.exists()


def test_a_subscription_is_listed_apart_and_asks_too(tmp_path: Path) -> None:
    home = tmp_path / "state"
    state(home, '[providers.anthropic]\nbilling = "subscription"\ncredential = "PLAN_TOKEN"\n')
    ran = run(home, *RUN, "--solver", "claude-code", "--real", PLAN_TOKEN="sk-plan")
    assert ran.code == 4
    assert "claude-code: 2 attempts by subscription, unpriced" in ran.out


def test_a_run_without_models_loads_nothing_of_the_gateways() -> None:
    code = "import sys, trialbox.running, trialbox.quoting; print([m for m in ('aiohttp', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------------------------------------ in real containers


def engine_tests(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that runs real containers, and takes its time."""
    return pytest.mark.engine(pytest.mark.slow(test))


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        yield server


def paid(home: Path, provider: ScriptedProvider, *, cap: str = "1", billing: str = "api") -> None:
    """A state folder in which provider ``paid`` costs money."""
    text = f'[spend]\ndaily_cap_usd = "{cap}"\n[providers.paid]\nurl = "{provider.url}/v1"\n'
    state(home, f'{text}credential = "PAID_KEY"\nbilling = "{billing}"\n')


@pytest.fixture
def key(provider: ScriptedProvider) -> str:
    """The key under which it answers."""
    return provider.add(Script(turns=(Turn(say="```python\nx = 1\n```", usage=USED, done=True),)))


WORKER = ("--solver", f"worker:model={PAID},provider=paid", "--real")


@engine_tests
def test_a_dry_run_takes_the_reference_through_the_whole_path(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    home = tmp_path / "state"
    both = ("run", "functions", "--task", "bill-shares", "--task", "coach-fares", "--concurrency", "1")
    ran = run(home, *both, "--solver", "worker:model=some-model,effort=high,reference", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["mode"], ran.json["provider"]) == ("dry", "scripted")
    assert {name: row["solved"] for name, row in ran.json["solvers"].items()} == {"worker": 2, "reference": 2}
    use = ran.json["measured"]["worker"]["model"]
    assert (use["provider"], use["billing"], use["requests"]) == ("scripted", "local", 2)
    assert use["requested_models"] == use["served_models"] == ["some-model"]
    assert (use["effort_requested"], use["effort"]) == ("high", "confirmed")
    assert use["usage"]["completeness"] == "complete"
    assert all(one["usd"] is None and one["reason"].startswith("a dry run") for one in use["costs"])
    assert run(home, "card", "verify", "latest").code == 0
    with Ledger(home / "ledger.db") as ledger:
        assert SpendBook(ledger, 1).day().charged == 0
    assert not (home / "gateway").exists()


@engine_tests
def test_a_confirmed_run_spends_what_the_meter_says_and_no_key_is_left_anywhere(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, provider: ScriptedProvider, key: str
) -> None:
    home = tmp_path / "state"
    paid(home, provider)
    ran = run(home, *RUN, *WORKER, PAID_KEY=key)
    assert ran.code == 4 and "Nothing was spent" in ran.out
    assert provider.truth(key) == (), "an estimate asks nobody"
    ran = run(home, *RUN, *WORKER, "--confirm-spend", "--json", PAID_KEY=key)
    assert ran.code == 0, ran.err
    truth = provider.truth(key)
    assert len(truth) == 2
    assert (ran.json["mode"], ran.json["provider"]) == ("real", "paid")
    use = ran.json["measured"]["worker"]["model"]
    served = [one.usage for one in truth if one.usage is not None]
    for bucket in Bucket:
        counts = [one.of(bucket) for one in served]
        assert use["usage"][bucket.value] == (None if None in counts else sum(filter(None, counts)))
    estimate = use["costs"][0]
    assert (estimate["basis"], estimate["usd"]) == ("api_estimate", "0.0064")
    with Ledger(home / "ledger.db") as ledger:
        day = SpendBook(ledger, 1).day()
        assert (day.metered, day.charged) == (2 * COST, 2 * COST)
    shown = run(home, "report", "latest")
    assert "mode real, provider paid" in shown.out and "$0.0064" in shown.out
    assert run(home, "card", "verify", "latest").code == 0
    assert run(home, "gc", "--json").code == 0
    assert run(home, "card", "verify", "latest").code == 0, "the prices and the bodies are kept"
    assert _holding(home, key) == []
    assert key not in ran.out + ran.err + shown.out


@engine_tests
def test_a_model_without_a_price_runs_within_a_bound_of_tokens_and_costs_what_nobody_knows(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, provider: ScriptedProvider, key: str
) -> None:
    home = tmp_path / "state"
    paid(home, provider)
    arguments = (*RUN, "--solver", "worker:model=new-model,provider=paid", "--real", "--confirm-spend")
    ran = run(home, *arguments, PAID_KEY=key)
    assert ran.code == 4 and "no price for new-model (prices of 2026-01-01)" in ran.line
    assert provider.truth(key) == ()
    ran = run(home, *arguments, "--budget-tokens", "5000", "--json", PAID_KEY=key)
    assert ran.code == 0, ran.err
    assert len(provider.truth(key)) == 2
    estimate = ran.json["measured"]["worker"]["model"]["costs"][0]
    assert estimate["usd"] is None and "no price for new-model" in estimate["reason"]
    with Ledger(home / "ledger.db") as ledger:
        day = SpendBook(ledger, 1).day()
    assert (day.metered, day.uncertain) == (0, 2 * pusd("0.010"))


def _holding(folder: Path, secret: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@engine_tests
def test_the_cap_stops_a_run_between_attempts_and_it_goes_on_when_raised(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, provider: ScriptedProvider, key: str
) -> None:
    home = tmp_path / "state"
    paid(home, provider, cap="0.0131")
    arguments = (*RUN, "--attempts", "2", *WORKER, "--confirm-spend")
    ran = run(home, *arguments, PAID_KEY=key)
    assert ran.code == 4
    assert "stopped between attempts: daily cap $0.0131 leaves no room for $0.010" in ran.line
    assert "--resume" in ran.line and "--confirm-spend" in ran.line
    assert len(provider.truth(key)) == 1, "0.010 was held twice at most: after the first, 0.0032 is spent"
    with Ledger(home / "ledger.db") as ledger:
        found = ledger.run("latest")
        assert (found.ended, found.cells) == (1, 4)
        assert SpendBook(ledger, 1).day().held == 0
    paid(home, provider, cap="1")
    asked = run(home, "run", "--resume", "latest", PAID_KEY=key)
    assert asked.code == 4 and "worker: 3 attempts x $0.0100 (flat) = $0.0300" in asked.out
    ran = run(home, "run", "--resume", "latest", "--confirm-spend", "--json", PAID_KEY=key)
    assert ran.code == 0, ran.err
    assert ran.json["measured"]["worker"]["model"]["costs"][0]["usd"] == "0.0128"
    told = run(home, "card", "show", "latest", "--json").json["stamp"]["run"]["interventions"]
    assert [one["kind"] for one in told] == ["exclusion", "resume", "limit_change"]
    assert told[-1]["detail"] == "daily cap 0.0131 to 1 US dollars"
    again = run(home, *RUN, *WORKER, PAID_KEY=key)
    assert "worker: 2 attempts x $0.0032 (its last 4) = $0.0064" in again.out


@engine_tests
def test_a_local_model_needs_no_confirmation(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, provider: ScriptedProvider, key: str
) -> None:
    home = tmp_path / "state"
    paid(home, provider, billing="local")
    ran = run(home, *RUN, *WORKER, "--json", PAID_KEY=key)
    assert ran.code == 0, ran.err
    assert (ran.json["mode"], ran.json["provider"]) == ("real", "local")
    use = ran.json["measured"]["worker"]["model"]
    assert (use["provider"], use["billing"]) == ("paid", "local")
    assert [one["basis"] for one in use["costs"] if one["usd"] is not None] == ["api_equivalent"]
    with Ledger(State(home).ledger) as ledger:
        assert SpendBook(ledger, 1).day().charged == 0


ONE = ("run", "functions", "--task", "kiln-slots", "--solver", "worker:model=m")


def outcomes(ran: Ran) -> dict[str, Any]:
    outcomes: dict[str, Any] = ran.json["solvers"]["worker"]["outcomes"]
    return outcomes


@engine_tests
def test_a_wrong_key_makes_a_solver_unavailable_and_is_tried_once(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, provider: ScriptedProvider, key: str
) -> None:
    home = tmp_path / "state"
    paid(home, provider)
    ran = run(home, *RUN, "--attempts", "2", *WORKER, "--confirm-spend", "--json", PAID_KEY=key + "x")
    assert ran.code == 0, ran.err
    assert outcomes(ran) == {"unavailable": 4}
    assert ran.json["measured"]["worker"]["model"]["tries"] == 1, "one attempt found out, the others were not begun"
    told = run(home, "report", "latest").out
    assert "the provider refuses the key (401)" in told and "unavailable (key)" in told
    assert _holding(home, key + "x") == []
    assert key + "x" not in ran.out + ran.err + told


@engine_tests
def test_a_provider_that_stays_down_is_errored_and_every_try_is_paid_for(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    script = tmp_path / "down.yaml"
    script.write_text("turns:\n  - say: never\n    fault: {kind: rate_limited, times: always}\n")
    ran = run(tmp_path / "state", *ONE, "--script", str(script), "--json")
    assert ran.code == 0, ran.err
    assert outcomes(ran) == {"errored": 1}
    use = ran.json["measured"]["worker"]["model"]
    assert use["tries"] == use["metered"] == 3
    assert use["faults"]["rate_limited"] == use["requests"] >= 3
    row = ran.json["solvers"]["worker"]
    assert row["incomplete"] and row["counted"] == 0
    assert row["pass_at_1_raw"]["value"] == "0.000000"


@engine_tests
def test_a_spent_budget_is_a_timeout_that_counts(engine: Engine, images: dict[str, BuiltImage], tmp_path: Path) -> None:
    home, script = tmp_path / "state", tmp_path / "busy.yaml"
    script.write_text("turns:\n  - say: never\n    fault: {kind: server_error, times: 1}\n")
    ran = run(home, *ONE, "--budget-requests", "1", "--script", str(script), "--json")
    assert ran.code == 0, ran.err
    assert outcomes(ran) == {"timeout": 1}
    assert ran.json["solvers"]["worker"]["counted"] == 1
    told = run(home, "report", "latest").out
    assert "timeout (budget)" in told and "budget of each attempt: 1 requests" in told


# ------------------------------------------------------------------------------------------------ an engine that leaks


@pytest.fixture
def network(engine: Engine, owner: str) -> Iterator[str]:
    """A bridge network that leads nowhere."""
    name = "tb-" + secrets.token_hex(8)
    engine.api.create_network(name, driver="bridge", internal=True, labels={LABEL: "1", STATE_LABEL: owner})
    yield name
    engine.api.remove_network(name)


@engine_tests
@pytest.mark.parametrize(
    ("solver", "where"),
    [("reference", ""), ("worker:model=m", SOCKET_FOLDER)],
    ids=["any container", "those with a gateway"],
)
def test_an_engine_that_joins_containers_to_a_bridge_is_refused_before_the_first_attempt(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, network: str, solver: str, where: str
) -> None:
    home = tmp_path / "state"
    ran = run(home, *RUN, "--solver", solver, program=("tests.cli_on_a_leak", network, where))
    assert (ran.code, ran.out) == (4, "")
    last = [one for one in ran.err.strip().splitlines() if one.startswith("trialbox: ")]
    assert len(last) == 1 and "has network interfaces eth0" in last[0], ran.err
    assert "Traceback" not in ran.err
    with Ledger(home / "ledger.db") as ledger:
        found = ledger.run("latest")
        assert found.ended == 0 and ledger.tries(found.id) == (), "nothing was dispatched"
    assert engine.api.containers(all=True, filters={"network": network}) == [], "nothing is left of it"

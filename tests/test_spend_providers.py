"""Providers by name, a user's own, and their keys, which are nowhere but in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UserError
from harness.gateway.access import Auth, Billing, Upstream
from harness.gateway.providers import KNOWN, credential, scripted, upstreams
from harness.gateway.records import Api
from harness.money import pusd
from harness.state import State
from trialbox.settings import CONFIG, daily_cap, providers

KEY = "sk-secret-4711"


def own(folder: Path, text: str) -> dict[str, Upstream]:
    (folder / CONFIG).write_text(text)
    return providers(State(folder))


def test_the_known_ones_are_https_and_each_names_its_variable() -> None:
    for one in KNOWN.values():
        assert one.url.startswith("https://") and one.credential and one.metered
    assert {api for one in KNOWN.values() for api in one.auth} == set(Api)
    assert upstreams({}, "config.toml") == KNOWN


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/"])
def test_a_local_server_needs_an_address_and_nothing_else(tmp_path: Path, url: str) -> None:
    made = own(tmp_path, f'[providers.vllm]\nurl = "{url}"\n')["vllm"]
    assert made == Upstream(name="vllm", url="http://127.0.0.1:8000", auth={Api.CHAT: Auth.NONE}, billing=Billing.LOCAL)
    assert not made.metered
    assert credential(made, {}).key == ""


def test_a_provider_of_ones_own(tmp_path: Path) -> None:
    text = '[providers.work]\nurl = "https://llm.example/p/v1"\napi = ["anthropic", "chat"]\ncredential = "WORK_KEY"\n'
    made = own(tmp_path, text)["work"]
    assert made == Upstream(
        name="work",
        url="https://llm.example/p",
        auth={Api.ANTHROPIC: Auth.X_API_KEY, Api.CHAT: Auth.BEARER},
        credential="WORK_KEY",
    )
    assert made.billing is Billing.API


def test_a_known_one_on_other_terms(tmp_path: Path) -> None:
    made = own(tmp_path, '[providers.anthropic]\nbilling = "subscription"\ncredential = "SUBSCRIPTION_TOKEN"\n')
    assert made["anthropic"].url == KNOWN["anthropic"].url
    assert made["anthropic"].auth == {Api.ANTHROPIC: Auth.BEARER}
    assert made["anthropic"].credential == "SUBSCRIPTION_TOKEN"
    assert made["openai"] == KNOWN["openai"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[providers.scripted]\nurl = "http://127.0.0.1:1"\n', "providers.scripted: is the name of dry runs' own"),
        ("[providers.mine]\n", "providers.mine.url: this key is missing"),
        ('[providers.mine]\nurl = "127.0.0.1:8000"\n', "providers.mine.url: is no address of a server"),
        ('[providers.mine]\nurl = "ftp://host"\n', "providers.mine.url: is no address of a server"),
        ('[providers.mine]\nurl = "https://u:hunter2@host"\n', "providers.mine.url: holds a user or a password"),
        ('[providers.mine]\nurl = "https://host/v1?key=hunter2"\n', "providers.mine.url: is no address"),
        ('[providers.mine]\nurl = "https://host"\n', "providers.mine.credential: is missing"),
        ('[providers.mine]\nurl = "http://host"\ncredential = "K"\n', "providers.mine.url: would carry a key in the"),
        ('[providers.mine]\nurl = "http://127.0.0.1"\napi = "chat"\n', "providers.mine.api"),
        ('[providers.mine]\nurl = "http://127.0.0.1"\napi = ["soap"]\n', "providers.mine.api"),
        ('[providers.mine]\nurl = "http://127.0.0.1"\nkey = "hunter2"\n', "providers.mine.key: is an unknown key"),
        ('[providers.mine]\nurl = "http://127.0.0.1"\ncredential = "a b"\n', "providers.mine.credential"),
        ('[providers."No Name"]\nurl = "http://127.0.0.1"\n', "has a name or an address that can't be used"),
        ("[spend]\ndaily_cap_usd = 5\n", "spend.daily_cap_usd"),
        ('[spend]\ndaily_cap_usd = "-5"\n', "spend.daily_cap_usd"),
    ],
)
def test_wrong_settings_name_the_key_and_show_no_secret(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        own(tmp_path, text)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_key_comes_from_its_variable_alone_and_is_never_shown() -> None:
    found = credential(KNOWN["openai"], {"OPENAI_API_KEY": f" {KEY}\n"})
    assert found.key == KEY
    assert KEY not in repr(found)
    assert credential(scripted("http://127.0.0.1:1"), {}).key == ""


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": "  "}, {"ANTHROPIC_API_KEY": KEY}])
def test_a_missing_key_is_a_reason(environ: dict[str, str]) -> None:
    found = credential(KNOWN["openai"], environ)
    assert (found.key, found.reason) == (None, "no key: the environment has no OPENAI_API_KEY")


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\r\nx-evil: 1", f"{KEY}\x00", f"{KEY}é"])
def test_what_is_no_key_is_refused_without_being_shown(key: str) -> None:
    found = credential(KNOWN["openai"], {"OPENAI_API_KEY": key})
    assert (found.key, found.reason) == (None, "no key: OPENAI_API_KEY holds spaces or characters that no key has")
    assert KEY not in repr(found)


def test_the_cap_is_ten_dollars_unless_something_else_is_said(tmp_path: Path) -> None:
    assert daily_cap(State(tmp_path)) == pusd("10")
    (tmp_path / CONFIG).write_text('[spend]\ndaily_cap_usd = "0.5"\n')
    assert daily_cap(State(tmp_path)) == pusd("0.5")

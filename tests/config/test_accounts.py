from dataclasses import replace

import pytest

from zurelay.chat.profile import Profile
from zurelay.config.accounts import default_key, needs_key, provider, providers, row
from zurelay.config.settings import ProviderSettings, Sandbox, Settings

ENVIRON = {"OPENAI_API_KEY": "sk-o", "AZURE_OPENAI_API_KEY": "sk-z"}


def openai(base_url: str = "") -> ProviderSettings:
    return ProviderSettings(kind="openai", base_url=base_url)


@pytest.mark.parametrize("url", ["", "https://api.openai.com/v1", "https://eu.api.openai.com/v1"])
def test_the_vendors_own_addresses_are_the_vendor(url: str) -> None:
    assert row(openai(url)).vendor == "openai"
    assert needs_key(openai(url))
    assert default_key(openai(url), ENVIRON) == "sk-o"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000/v1", "https://api.openai.com.evil.test/v1", "https://notopenai.com"],
)
def test_any_other_address_is_a_server_of_ones_own(url: str) -> None:
    found = row(openai(url))
    assert (found.vendor, found.lists_models, found.hosted) == (None, True, False)
    assert found.profile == Profile()
    assert not needs_key(openai(url))
    assert default_key(openai(url), ENVIRON) == ""


def test_a_server_of_ones_own_has_the_responses_api_only_where_it_is_said() -> None:
    own = openai("http://127.0.0.1:8000/v1")
    assert row(own).also == ()
    said = replace(own, quirks={"chat_lacks": frozenset({"thinking"})})
    assert row(said).also == row(openai()).also == ("openai_responses",)


def test_a_kind_whose_address_is_always_given_still_finds_its_key() -> None:
    azure = ProviderSettings(kind="azure-openai", base_url="https://me.openai.azure.com/openai/v1")
    assert default_key(azure, ENVIRON) == "sk-z"


def test_a_provider_has_what_its_table_says() -> None:
    found = provider(
        "mine",
        ProviderSettings(
            kind="openai",
            api_keys=("sk-1", "sk-2"),
            label="first",
            headers={"x-team": "a"},
            max_concurrency=3,
            quirks={"think_tags": True},
        ),
    )
    assert (found.name, found.label, found.max_concurrency) == ("mine", "first", 3)
    assert found.base_url == "https://api.openai.com/v1"
    assert found.auth_headers() == (("authorization", "Bearer sk-1"), ("x-team", "a"))
    assert found.kind.profile.think_tags
    assert found.kind.profile.developer_role, "the kind's other quirks stay"


def test_the_sandbox_comes_last_unless_it_is_off_or_its_name_is_taken() -> None:
    mine = {"o": openai()}
    assert [one.name for one in providers(Settings(providers=mine))] == ["o", "sandbox"]
    off = Settings(providers=mine, sandbox=Sandbox(enabled=False))
    assert [one.name for one in providers(off)] == ["o"]
    taken = Settings(providers={"sandbox": openai()})
    assert [one.kind.name for one in providers(taken)] == ["openai"]

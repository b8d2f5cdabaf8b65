from collections.abc import Mapping

import pytest

from zurelay.catalogue.load import Catalogue, catalogue
from zurelay.catalogue.model import Model
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.config.checks import Checks
from zurelay.config.parse import parse

KEYS = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"}


def known() -> Catalogue:
    models = [
        Model(id=name, name=name, vendor=vendor, upstream=name)
        for vendor, name in (("openai", "gpt-6"), ("openai", "gpt-6-mini"), ("anthropic", "claude"))
    ]
    return catalogue([*models, *SANDBOX_MODELS])


def faults(document: Mapping[str, object], environ: Mapping[str, str] = KEYS) -> dict[str, str]:
    parsed = parse(document, "z.toml")
    assert parsed.faults == []
    return {f.key: f.message for f in Checks("z.toml", parsed, known(), environ).faults()}


def test_an_unknown_kind_gets_the_nearest() -> None:
    found = faults({"providers": {"o": {"kind": "opnai"}}})
    assert found == {"providers.o.kind": 'no such kind. Did you mean "openai"?'}


def test_an_unknown_kind_is_never_repeated() -> None:
    found = faults({"providers": {"o": {"kind": "sk-secret-by-mistake"}}})
    assert "by-mistake" not in found["providers.o.kind"]


def test_a_kind_without_an_address_of_its_own_wants_one() -> None:
    found = faults({"providers": {"a": {"kind": "azure-openai", "api_key": "k"}}})
    assert 'write base_url = "https://..."' in found["providers.a.base_url"]


def test_a_vendor_that_wants_a_key_names_its_variable() -> None:
    found = faults({"providers": {"o": {"kind": "openai"}}}, {})
    assert 'write api_key = "$OPENAI_API_KEY"' in found["providers.o.api_key"]


def test_a_server_of_ones_own_needs_no_key() -> None:
    own = {"kind": "openai", "base_url": "http://127.0.0.1:8000/v1"}
    assert faults({"providers": {"a": own, "b": {"kind": "ollama"}}}, {}) == {}


def test_one_of_two_ways_to_write_a_key_is_enough() -> None:
    found = faults({"providers": {"o": {"kind": "openai", "api_key": "a", "api_keys": ["b"]}}})
    assert list(found) == ["providers.o.api_keys"]


def test_routes_name_providers_that_exist() -> None:
    found = faults(
        {
            "providers": {"openai": {"kind": "openai"}},
            "models": {"gpt-6": {"routes": ["opnai", {"provider": "sandbox"}, "openai"]}},
        }
    )
    assert found == {
        "models.gpt-6.routes[0]": 'no provider is called "opnai". Did you mean "openai"?'
    }


def test_the_sandbox_is_no_provider_when_it_is_off() -> None:
    found = faults(
        {
            "sandbox": {"enabled": False},
            "providers": {"o": {"kind": "openai"}},
            "models": {"m": {"routes": ["sandbox"]}},
        }
    )
    assert list(found) == ["models.m.routes[0]"]


def test_nothing_to_serve_is_a_fault() -> None:
    found = faults({"sandbox": {"enabled": False}})
    assert "nothing to serve" in found[""]


def test_fallbacks_are_models_that_are_served() -> None:
    found = faults(
        {
            "providers": {"openai": {"kind": "openai"}},
            "models": {
                "gpt-6": {"fallbacks": ["gpt-6-mni", "gpt-6-mini", "sandbox/echo", "gpt-6"]}
            },
        }
    )
    assert list(found) == ["models.gpt-6.fallbacks[0]", "models.gpt-6.fallbacks[3]"]
    assert 'Did you mean "gpt-6-mini"?' in found["models.gpt-6.fallbacks[0]"]


def test_a_model_that_no_provider_has_wants_routes() -> None:
    found = faults({"providers": {"o": {"kind": "openai"}}, "models": {"gpt-7": {"context": 5}}})
    assert "write routes" in found["models.gpt-7.routes"]
    assert 'Did you mean "gpt-6"?' in found["models.gpt-7.routes"]


def test_a_provider_without_its_catalogue_serves_only_what_routes_name() -> None:
    document = {
        "providers": {"o": {"kind": "openai", "catalogue": False}},
        "models": {"gpt-6": {"routes": ["o"], "fallbacks": ["gpt-6-mini"]}},
    }
    assert list(faults(document)) == ["models.gpt-6.fallbacks[0]"]


def test_nobody_can_say_what_a_self_hosted_server_has() -> None:
    document = {
        "providers": {"o": {"kind": "ollama"}},
        "models": {"llama": {"context": 5, "fallbacks": ["qwen"]}},
    }
    assert faults(document) == {}


@pytest.mark.parametrize("kind", ["anthropic", "gemini", "vertex", "bedrock"])
def test_kinds_with_a_format_of_their_own_may_stand_in_a_file(kind: str) -> None:
    document = {"providers": {"x": {"kind": kind, "api_key": "k", "base_url": "https://x.test"}}}
    assert faults(document) == {}


def test_an_account_at_aws_wants_a_region_and_a_credential() -> None:
    found = faults({"providers": {"b": {"kind": "bedrock"}}}, {})
    assert list(found) == ["providers.b.region", "providers.b.access_key_id"]
    environ = {
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "AKID",
        "AWS_SECRET_ACCESS_KEY": "s",
    }
    assert faults({"providers": {"b": {"kind": "bedrock"}}}, environ) == {}


def test_settings_of_aws_mean_nothing_elsewhere() -> None:
    found = faults({"providers": {"o": {"kind": "openai", "region": "us-east-1"}}})
    assert "leave it out" in found["providers.o.region"]

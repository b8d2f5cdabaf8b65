import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from zurelay.config import ConfigError, Settings, load, load_catalogue
from zurelay.config.load import config_hash, load_billing
from zurelay.config.settings import Billing

SECRET = "sk-never-shown"


def written(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    path = tmp_path / "z.toml"
    path.write_text(text)
    return load(path, environ or {}, tmp_path / "data", tmp_path)


def told(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        written(tmp_path, text, environ)
    return {fault.key: fault.message for fault in caught.value.faults}


def test_without_file_and_keys_the_sandbox_is_served_alone(tmp_path: Path) -> None:
    settings = load(None, {}, tmp_path, tmp_path)
    assert (settings.origin, dict(settings.providers)) == ("sandbox", {})
    assert settings.sandbox.enabled


def test_without_a_file_providers_are_found_in_the_environment(tmp_path: Path) -> None:
    settings = load(None, {"OPENAI_API_KEY": SECRET, "GROQ_API_KEY": SECRET}, tmp_path, tmp_path)
    assert settings.origin == "environment"
    assert list(settings.providers) == ["openai", "groq"]
    assert settings.providers["groq"].api_keys == (SECRET,)


def test_the_file_in_the_working_folder_goes_before_the_environment(tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text("[server]\nport = 9000")
    settings = load(None, {"OPENAI_API_KEY": SECRET}, tmp_path, tmp_path)
    assert (settings.origin, settings.server.port) == ("file", 9000)
    assert list(settings.providers) == []
    assert settings.sources == (tmp_path / "zurelay.toml",)


def test_a_provider_takes_its_vendors_usual_variable(tmp_path: Path) -> None:
    settings = written(
        tmp_path, '[providers.o]\nkind = "openai"', {"OPENAI_API_KEY": f" {SECRET} "}
    )
    assert settings.providers["o"].api_keys == (SECRET,)


def test_a_vendors_key_never_travels_to_another_address_unasked(tmp_path: Path) -> None:
    text = '[providers.o]\nkind = "openai"\nbase_url = "http://10.0.0.5:8000/v1"'
    assert written(tmp_path, text, {"OPENAI_API_KEY": SECRET}).providers["o"].api_keys == ()


def test_files_that_values_come_from_are_watched_too(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    settings = written(tmp_path, '[providers.o]\nkind = "openai"\napi_key = "file:key"')
    assert settings.sources == (tmp_path / "z.toml", tmp_path / "key")
    assert settings.providers["o"].api_keys == (SECRET,)


def test_no_message_ever_shows_a_secret(tmp_path: Path) -> None:
    text = """
    [server]
    port = "$S"
    host = "$S"
    public_url = "$S"
    trusted_proxies = ["$S"]
    [brand]
    wire = "$S"
    [storage]
    url = "$S"
    [log]
    level = "$S"
    [providers.a]
    kind = "$S"
    base_url = "$S"
    [providers.b]
    kind = "openai"
    api_key = "$S"
    api_keys = ["$S", "$S"]
    headers = { "a" = "$S", "b" = "$N" }
    [models.m]
    price = "$S"
    input = ["$S"]
    routes = [{ provider = "b", weight = "$S" }]
    reasoning = { levels = ["$S"], default = "$S" }
    quirks = { think_tags = "$S", tool_ids = "$S" }
    """
    environ = {"S": "Sk-never-shown", "N": "Sk-never\nshown"}
    with pytest.raises(ConfigError) as caught:
        written(tmp_path, text, environ)
    assert len(caught.value.faults) > 10
    assert "never" not in str(caught.value)


def test_faults_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        """
        [providers.b]
        kind = "opnai"
        [providers.a]
        kind = "openai"
        api_key = "$GONE"
        [server]
        prot = 1
        """,
    )
    assert list(found) == ["providers.b.kind", "providers.a.api_key", "server.prot"]


def test_the_hash_differs_with_any_setting_and_only_then(tmp_path: Path) -> None:
    text = '[providers.o]\nkind = "openai"\napi_key = "$K"'
    one = written(tmp_path, text, {"K": "a"})
    assert len(one.config_hash) == 12
    assert one.config_hash == written(tmp_path, f"# a comment\n{text}", {"K": "a"}).config_hash
    assert one.config_hash != written(tmp_path, text, {"K": "b"}).config_hash
    assert one.config_hash != written(tmp_path, f"{text}\nlabel = 'x'", {"K": "a"}).config_hash
    assert config_hash(one) == one.config_hash


def test_an_overlay_goes_before_the_catalogue_and_is_watched(tmp_path: Path) -> None:
    entry = {"vendor": "openai", "id": "gpt-mine", "name": "Mine", "context": 5}
    (tmp_path / "more.json").write_bytes(msgspec.json.encode({"models": [entry]}))
    settings = written(tmp_path, '[catalogue]\nfile = "more.json"')
    assert load_catalogue(settings).by_id["gpt-mine"].context == 5
    assert "sandbox/echo" in load_catalogue(settings).by_id
    assert tmp_path / "more.json" in settings.sources


def test_a_faulty_overlay_is_a_fault(tmp_path: Path) -> None:
    assert "cannot be read" in told(tmp_path, '[catalogue]\nfile = "no"')["catalogue.file"]
    (tmp_path / "bad.json").write_text('{"models": [{"vendor": "x", "id": "y"}]}')
    assert "" in told(tmp_path, '[catalogue]\nfile = "bad.json"')


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    (tmp_path / "key").chmod(0)
    found = told(tmp_path, '[providers.o]\nkind = "openai"\napi_key = "file:key"')
    assert "Permission denied" in found["providers.o.api_key"]


CONTRACT = Path(__file__).parent / "example.toml"


def test_the_documented_example_has_no_fault(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}
    settings = load(CONTRACT, environ, tmp_path)
    model = settings.models["claude-opus-5-5"]
    assert model.context == 1_000_000
    assert model.price is not None
    assert model.price.classes["cached_input"] == 2 * 10**11


def test_billing_alone_is_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "zurelay.toml"
    assert load_billing(None, {}, tmp_path) == Billing()
    path.write_text("[providers.x]\nkind = 5\n[billing]\nprepaid = true\n")
    assert load_billing(None, {}, tmp_path).prepaid
    path.write_text("[billing]\nprepaid = 5\n")
    with pytest.raises(ConfigError):
        load_billing(path, {})

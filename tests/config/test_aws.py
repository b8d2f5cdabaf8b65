"""Accounts at AWS: regions, credentials, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from zurelay.config.accounts import default_key, provider
from zurelay.config.aws import completed, credential, faults
from zurelay.config.faults import ConfigError
from zurelay.config.load import load
from zurelay.config.settings import ProviderSettings
from zurelay.providers.base import AwsCredential

ENVIRON = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKID-E",
    "AWS_SECRET_ACCESS_KEY": "secret-e",
    "AWS_SESSION_TOKEN": "token-e",
    "AWS_BEARER_TOKEN_BEDROCK": "bearer-e",
}
NO_BEARER = {name: value for name, value in ENVIRON.items() if "BEARER" not in name}


def bedrock(**fields: Any) -> ProviderSettings:
    return ProviderSettings(kind="bedrock", **fields)


OWN = bedrock(region="us-east-1", access_key_id="AKID", secret_access_key="secret")


def test_what_the_file_says_wins() -> None:
    assert completed(OWN, ENVIRON) == OWN
    assert credential(OWN) == AwsCredential("AKID", "secret", "us-east-1")
    found = provider("b", OWN)
    assert found.base_url == "https://bedrock-runtime.us-east-1.amazonaws.com"
    assert found.aws == credential(OWN)
    assert found.auth_headers() == ()


def test_the_usual_variables_fill_in_the_rest() -> None:
    found = completed(bedrock(), ENVIRON)
    assert credential(found) == AwsCredential("AKID-E", "secret-e", "eu-west-1", "token-e")
    assert completed(bedrock(), {**ENVIRON, "AWS_REGION": "eu-north-1"}).region == "eu-north-1"
    half = {"AWS_ACCESS_KEY_ID": "AKID-E"}
    assert credential(completed(bedrock(), half)) is None


def test_a_key_goes_before_signatures() -> None:
    found = completed(bedrock(api_key="KEY"), ENVIRON)
    assert credential(found) is None
    assert provider("b", found).auth_headers() == (("authorization", "Bearer KEY"),)
    assert default_key(bedrock(), ENVIRON) == "bearer-e"
    assert default_key(OWN, ENVIRON) == ""


@pytest.mark.parametrize("url", ["https://proxy.test", "https://amazonaws.com.evil.test"])
def test_nothing_of_the_environment_goes_to_a_stranger(url: str) -> None:
    mine = bedrock(base_url=url, region="us-east-1")
    assert credential(completed(mine, ENVIRON)) is None
    assert default_key(mine, ENVIRON) == ""
    aws = bedrock(base_url="https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com")
    assert credential(completed(aws, ENVIRON)) is not None


@pytest.mark.parametrize(
    ("one", "environ", "settings"),
    [
        (OWN, {}, []),
        (bedrock(), NO_BEARER, []),
        (bedrock(region="us-east-1", api_key="K"), {}, []),
        (bedrock(base_url="https://x.test", api_key="K"), {}, []),
        (bedrock(api_key="K"), {}, ["region"]),
        (bedrock(), {}, ["region", "access_key_id"]),
        (bedrock(region="us-east-1", access_key_id="A"), {}, ["secret_access_key"]),
        (bedrock(region="us-east-1", secret_access_key="s"), {}, ["access_key_id"]),
        (
            bedrock(region="us-east-1", api_key="K", access_key_id="A", secret_access_key="s"),
            {},
            ["access_key_id"],
        ),
    ],
)
def test_each_fault_names_its_setting(
    one: ProviderSettings, environ: dict[str, str], settings: list[str]
) -> None:
    keyed = bool(one.api_key or default_key(one, environ))
    assert [name for name, _ in faults(one, environ, keyed)] == settings


def test_secrets_stay_out_of_the_repr() -> None:
    assert "secret-e" not in repr(completed(bedrock(), ENVIRON))
    assert "token-e" not in repr(completed(bedrock(), ENVIRON))


def test_the_environment_reaches_accounts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "z.toml"
    path.write_text('[providers.b]\nkind = "bedrock"\n', encoding="utf-8")
    found = load(path, NO_BEARER).providers["b"]
    assert credential(found) == AwsCredential("AKID-E", "secret-e", "eu-west-1", "token-e")
    assert load(path, ENVIRON).providers["b"].api_keys == ("bearer-e",)
    with pytest.raises(ConfigError, match="region"):
        load(path, {})

"""Accounts at Vertex AI."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.config.test_checks import faults
from zurelay.config.accounts import provider
from zurelay.config.google import address
from zurelay.config.settings import ProviderSettings

KEY_FILE = json.dumps(
    {
        "type": "service_account",
        "project_id": "my-project",
        "client_email": "a@x",
        "private_key": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
)
HERE = ProviderSettings(kind="vertex", credentials=KEY_FILE)
GLOBAL = "https://aiplatform.googleapis.com/v1"


@pytest.mark.parametrize(
    ("changes", "url"),
    [
        ({}, f"{GLOBAL}/projects/my-project/locations/global"),
        (
            {"project": "other", "location": "us-east5"},
            "https://us-east5-aiplatform.googleapis.com/v1/projects/other/locations/us-east5",
        ),
        (
            {"base_url": "http://proxy:1"},
            "http://proxy:1/v1/projects/my-project/locations/global",
        ),
        (
            {"base_url": "https://x/v1/projects/p/locations/l", "project": "ignored"},
            "https://x/v1/projects/p/locations/l",
        ),
        ({"credentials": "", "api_keys": ("k",)}, GLOBAL),
        ({"credentials": "", "api_keys": ("k",), "base_url": "https://x"}, "https://x/v1"),
    ],
)
def test_the_address_follows_from_the_settings(changes: dict[str, Any], url: str) -> None:
    assert address(replace(HERE, **changes)) == url


def test_the_account_is_the_providers() -> None:
    found = provider("v", HERE)
    assert found.service_account is not None
    assert found.service_account.email == "a@x"
    assert found.auth_headers() == ()
    assert KEY_FILE not in repr(HERE)
    assert provider("o", ProviderSettings(kind="openai")).service_account is None


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ({"credentials": KEY_FILE}, {}),
        ({"api_key": "k"}, {}),
        ({}, {"credentials": "wants a credential"}),
        ({"credentials": "/secret/key.json"}, {"credentials": "file:"}),
        ({"credentials": KEY_FILE, "api_key": "k"}, {"credentials": "only one"}),
        ({"credentials": KEY_FILE, "project": "a/b"}, {"project": "no project id"}),
        ({"credentials": KEY_FILE, "location": "x.evil.test"}, {"location": "no region"}),
        ({"credentials": KEY_FILE.replace("my-project", "")}, {"project": "missing"}),
        ({"credentials": KEY_FILE, "region": "us-east-1"}, {"region": "only accounts at AWS"}),
    ],
)
def test_what_an_account_needs(table: dict[str, Any], wrong: dict[str, str]) -> None:
    found = faults({"providers": {"v": {"kind": "vertex", **table}}}, {})
    assert set(found) == {f"providers.v.{key}" for key in wrong}
    for key, said in wrong.items():
        assert said in found[f"providers.v.{key}"]
        assert "PRIVATE" not in found[f"providers.v.{key}"]


def test_its_settings_mean_nothing_elsewhere() -> None:
    table = {"kind": "openai", "project": "p", "location": "l-1", "credentials": KEY_FILE}
    found = faults({"providers": {"o": table}})
    assert {"providers.o.project", "providers.o.location", "providers.o.credentials"} <= set(found)

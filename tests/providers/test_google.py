"""Google's two services."""

import json
from typing import Any

import pytest

from zurelay.providers.base import Provider
from zurelay.providers.google import GEMINI, VERTEX, service_account, vertex_address

GOOD = {
    "type": "service_account",
    "client_email": "a@p.iam.gserviceaccount.com",
    "private_key": "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n",
    "token_uri": "https://oauth2.googleapis.com/token",
}


def test_the_key_of_the_gemini_api_has_a_header_of_its_own() -> None:
    found = Provider("g", GEMINI, GEMINI.base_url, api_keys=("k",))
    assert found.auth_headers() == (("x-goog-api-key", "k"),)


def test_signatures_of_one_service_are_never_shown_to_the_other() -> None:
    assert GEMINI.profile.realm != VERTEX.profile.realm
    assert GEMINI.profile.reasoning_placeholder == VERTEX.profile.reasoning_placeholder


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("us", "aiplatform.us.rep.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
    ],
)
def test_the_address_follows_from_project_and_region(location: str, host: str) -> None:
    assert vertex_address("p-1", location) == f"https://{host}/v1/projects/p-1/locations/{location}"
    proxied = vertex_address("p-1", location, "https://proxy.test")
    assert proxied == f"https://proxy.test/v1/projects/p-1/locations/{location}"


def test_a_key_file_is_read() -> None:
    found = service_account(json.dumps({**GOOD, "project_id": "p", "private_key_id": "i"}))
    assert (found.email, found.project, found.key_id) == (GOOD["client_email"], "p", "i")
    assert "SECRET" not in repr(found)
    assert service_account(json.dumps(GOOD)).project == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/run/secrets/key.json", "no JSON"),
        ("[1]", "service_account"),
        ({**GOOD, "type": "authorized_user"}, "service_account"),
        ({**GOOD, "client_email": ""}, "client_email"),
        ({**GOOD, "private_key": None}, "private_key"),
        ({**GOOD, "private_key": "SECRET"}, "no PEM"),
        ({**GOOD, "token_uri": "ftp://x"}, "no address"),
    ],
)
def test_what_is_no_key_file_is_told_without_what_it_holds(text: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        service_account(text if isinstance(text, str) else json.dumps(text))
    assert "SECRET" not in str(raised.value)

"""Answers that are not a model's: what browsers ask first and what they may read."""

import pytest

from tests.app.conftest import Caller as Client


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/models/some-model"])
async def test_a_preflight_needs_no_key_and_echoes_the_headers_asked_for(
    client: Client, path: str
) -> None:
    asked = "authorization,content-type,x-api-key,anthropic-version,x-stainless-os"
    headers = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": asked,
    }
    answer = await client.send("OPTIONS", path, headers=headers)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == asked
    assert "OPTIONS" in answer.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in answer.headers


async def test_answers_and_errors_can_be_read_by_a_browser_on_another_site(client: Client) -> None:
    for key in (client.gateway.headers, {}):
        answer = await client.send("GET", "/v1/models", headers={**key, "origin": "https://a.b"})
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = answer.headers["access-control-expose-headers"].split(", ")
        assert {"x-request-id", "retry-after", "x-zurelay-model", "server-timing"} <= set(exposed)
    plain = await client.get("/v1/models")
    assert "access-control-allow-origin" not in plain.headers

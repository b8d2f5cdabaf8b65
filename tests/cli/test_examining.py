import pytest

from tests.upstream.service_accounts import key_file, token
from zurelay.cli.examining import clock, examine, judged, offset
from zurelay.config.accounts import provider
from zurelay.config.settings import ProviderSettings
from zurelay.testing.script import Script, json_reply
from zurelay.testing.upstream import ScriptedUpstream


@pytest.mark.parametrize(
    ("status", "body", "state", "says"),
    [
        (200, b'{"data": [{"id": "a"}]}', "ok", "1 model"),
        (200, b'{"models": [{"name": "models/a"}, {}]}', "ok", "2 models"),
        (200, b"<html>", "warning", "cannot be read"),
        (200, b"[]", "warning", "cannot be read"),
        (400, b'{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}', "fault", "refuses"),
        (400, b"{}", "warning", "status 400"),
        (401, b"", "fault", "refuses our credential"),
        (403, b"", "fault", "refuses our credential"),
        (402, b"", "fault", "no money"),
        (404, b"", "ok", "no list of models"),
        (429, b"", "warning", "too many"),
        (503, b"", "warning", "in trouble"),
        (301, b"", "warning", "status 301"),
    ],
)
def test_an_answer_says_what_is_wrong(status: int, body: bytes, state: str, says: str) -> None:
    found = judged(status, body)
    assert found[0] == state
    assert says in found[1]


def test_our_clock_is_held_against_the_providers() -> None:
    headers = {"date": "Mon, 21 Sep 2026 14:13:20 GMT"}
    assert offset(headers, 1_790_000_000 + 90) == 90
    assert offset({}, 0) is None
    assert offset({"date": "soon"}, 0) is None
    assert clock([90.0, 1.5]).state == "ok"
    assert clock([]).state == "ok"
    assert (clock([90.0]).state, "90 s ahead" in clock([90.0]).says) == ("warning", True)
    assert "30 s behind" in clock([-30.0]).says


async def test_a_provider_that_answers_and_one_that_does_not(sandbox: str, dead_port: int) -> None:
    there = provider("there", ProviderSettings("openai", base_url=sandbox))
    away = provider("away", ProviderSettings("openai", base_url=f"http://127.0.0.1:{dead_port}"))
    first, second = await examine([there, away])
    assert first.finding.state == "ok"
    assert "13 models" in first.finding.says
    assert second.finding.state == "fault"
    assert "cannot be reached (connect)" in second.finding.says


async def test_bedrock_is_reached_or_not(sandbox: str) -> None:
    aws = ProviderSettings("bedrock", base_url=f"{sandbox}/nothing", region="us-east-1")
    (seen,) = await examine([provider("aws", aws)])
    assert seen.finding.state == "ok"
    assert "credential shows" in seen.finding.says


@pytest.mark.parametrize(
    ("script", "state", "says"),
    [
        (token(), "ok", "credential is good"),
        (json_reply({"error": "invalid_grant"}, 400), "fault", "refuses our credential"),
    ],
)
async def test_a_service_account_is_tried(script: Script, state: str, says: str) -> None:
    async with (
        ScriptedUpstream(script) as endpoint,
        ScriptedUpstream(json_reply({})) as vertex,
    ):
        settings = ProviderSettings(
            "vertex", base_url=vertex.base_url, credentials=key_file(endpoint.base_url)
        )
        (seen,) = await examine([provider("v", settings)])
    assert (seen.finding.state, says in seen.finding.says) == (state, True)
    assert [request.headers["authorization"] for request in vertex.requests] == (
        ["Bearer ya29.token"] if state == "ok" else []
    )

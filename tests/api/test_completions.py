"""The path of a model request: what it notes of its caller, and what it sends for it."""

import pytest

from tests.app.conftest import Caller as Client
from zurelay.meter.record import RequestRecord
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream


async def record_of(gateway: RunningGateway, id_: str) -> RequestRecord:
    record = await gateway.process._parts.ledger.read(id_, None)
    assert record is not None
    return record


async def test_what_a_client_says_of_itself_is_noted_within_bounds(
    client: Client, upstream: ScriptedUpstream, gateway: RunningGateway
) -> None:
    upstream.enqueue(json_reply(chat_reply("Hi")))
    answer = await client.chat({"user-agent": "tool/" + "9" * 500, "x-client-request-id": "mine-1"})
    record = await record_of(gateway, answer.headers["x-request-id"])
    assert record.client is not None
    assert (record.client[:6], len(record.client)) == ("tool/9", 200)
    assert record.client_request_id == "mine-1"
    assert record.endpoint == "/v1/chat/completions"
    assert record.address == "127.0.0.1"


async def test_prompt_cache_keys_are_made_the_accounts_own(
    client: Client, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(*[json_reply(chat_reply("Hi"))] * 3)
    for key in ("shared", "shared", "other"):
        await client.chat(prompt_cache_key=key)
    sent = [request.json["prompt_cache_key"] for request in upstream.requests]
    assert sent[0] == sent[1] != sent[2]
    assert len(sent[0]) == 32
    assert "shared" not in sent


async def test_no_header_of_the_caller_goes_up(client: Client, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply("Hi")))
    await client.chat({"x-secret": "mine", "openai-organization": "org", "cookie": "a=b"})
    sent = upstream.requests[0].headers
    assert not {"x-secret", "openai-organization", "cookie"} & set(sent)
    assert sent["authorization"] == "Bearer SECRET-1234"


@pytest.mark.parametrize("stream", [True, False])
async def test_a_fault_of_ours_is_a_500_that_tells_nothing_and_leaves_a_row(
    client: Client, gateway: RunningGateway, stream: bool
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("SECRET inside")

    gateway.process._parts.parts.services.exchange = broken  # type: ignore[assignment]
    answer = await client.chat(stream=stream)
    assert (answer.status, answer.json["error"]["code"]) == (500, "internal_error")
    assert b"SECRET" not in answer.body
    row = await client.logged(answer)
    assert (row["status"], row["http_status"], row["cost_usd"]) == ("error", 500, "0")
    assert not gateway.process._gateway.core.runs

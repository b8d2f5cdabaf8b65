"""Embeddings through the whole gateway, by bytes and by the official SDK."""

import base64
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.app.conftest import Answer, Caller, Start
from zurelay.testing.chat import chat_reply
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

CONFIG = """
[server]
expose_routes = false

[providers.own]
kind = "mistral"
base_url = "{upstream}"
api_key = "SECRET-1234"

[providers.server]
kind = "openai"
base_url = "{upstream}"
catalogue = false

[models."my-vectors"]
routes = [{{ provider = "server", model = "bge-m3" }}]
price = {{ input = "0.50", output = "0" }}
"""


def _vectors(*vectors: Any, tokens: int = 8) -> dict[str, Any]:
    items = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors)
    ]
    used = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": items, "model": "theirs", "usage": used}


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream) -> Caller:
    return await start(CONFIG.format(upstream=upstream.base_url))


@pytest.fixture
async def sdk(caller: Caller) -> AsyncIterator[AsyncOpenAI]:
    gateway = caller.gateway
    async with AsyncOpenAI(
        base_url=f"{gateway.base_url}/v1", api_key=gateway.key, max_retries=0, timeout=20
    ) as client:
        yield client


async def _ask(caller: Caller, **fields: Any) -> Answer:
    body = {"model": "mistral-embed", "input": ["one", "two"], **fields}
    headers = {**caller.gateway.headers, "content-type": "application/json"}
    return await caller.send("POST", "/v1/embeddings", json.dumps(body).encode(), headers)


async def test_vectors_come_back_under_the_public_name_and_are_billed(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(_vectors([0.5, -1e-05], [1.0, 2.0], tokens=1000)))
    answer = await _ask(caller, dimensions=2, user="u-1", metadata={"team": "a"})

    sent = upstream.requests[-1]
    assert sent.path == "/embeddings"
    assert sent.headers["authorization"] == "Bearer SECRET-1234"
    assert sent.json == {"model": "mistral-embed", "input": ["one", "two"], "output_dimension": 2}
    assert answer.status == 200
    assert answer.json["model"] == "mistral-embed"
    assert [item["embedding"] for item in answer.json["data"]] == [[0.5, -1e-05], [1.0, 2.0]]
    assert answer.json["usage"] == {"prompt_tokens": 1000, "total_tokens": 1000}
    assert answer.headers["x-zurelay-model"] == "mistral-embed"
    assert "x-zurelay-reasoning-effort" not in answer.headers

    row = await caller.logged(answer)
    assert (row["status"], row["http_status"], row["answered_by"]) == ("ok", 200, "mistral-embed")
    assert (row["cost_usd"], row["cost_estimated"]) == ("0.0001", False)
    assert (row["user"], row["metadata"]) == ("u-1", {"team": "a"})
    assert row["usage"]["prompt_tokens"] == 1000
    assert row["usage"]["completion_tokens"] == 0


async def test_a_server_of_ones_own_makes_them_too(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(_vectors([0.5])))
    answer = await _ask(caller, model="my-vectors", input="one", dimensions=2)
    assert answer.status == 200, answer.body
    assert upstream.requests[-1].json == {"model": "bge-m3", "input": "one", "dimensions": 2}
    assert answer.json["model"] == "my-vectors"


async def test_a_failed_attempt_is_no_answer_and_costs_nothing(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(_vectors([0.5])))  # one vector for two texts
    answer = await _ask(caller)
    assert answer.status == 502
    row = await caller.logged(answer)
    assert (row["status"], row["cost_usd"]) == ("error", "0")
    assert row["attempts"][0]["reason"] == "bad_answer"


async def test_models_of_the_other_kind_are_a_clear_400(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    chat = await caller.chat(model="mistral-embed")
    assert (chat.status, chat.json["error"]["param"]) == (400, "model")
    assert "/v1/embeddings" in chat.json["error"]["message"]
    vectors = await _ask(caller, model="sandbox/echo")
    assert (vectors.status, vectors.json["error"]["param"]) == (400, "model")
    unknown = await _ask(caller, model="mistral-embedd")
    assert (unknown.status, unknown.json["error"]["code"]) == (404, "model_not_found")
    assert [request.path for request in upstream.requests] == ["/models"]
    row = await caller.logged(vectors)
    assert (row["status"], row["http_status"], row["model"]) == ("error", 400, "sandbox/echo")


async def test_a_model_nobody_knows_may_do_both(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello")), json_reply(_vectors([0.5])))
    assert (await caller.chat(model="my-vectors")).status == 200
    assert (await _ask(caller, model="my-vectors", input="one")).status == 200


async def test_the_endpoint_needs_a_key_and_a_post(caller: Caller) -> None:
    assert (await caller.send("POST", "/v1/embeddings", b"{}", {})).status == 401
    refused = await caller.get("/v1/embeddings")
    assert (refused.status, refused.headers["allow"]) == (405, "POST, OPTIONS")


async def test_the_sdk_reads_vectors_of_its_own_encoding(
    sdk: AsyncOpenAI, upstream: ScriptedUpstream
) -> None:
    packed = base64.b64encode(struct.pack("<3f", 0.5, -1.0, 2.25)).decode()
    upstream.enqueue(json_reply(_vectors(packed)))
    made = await sdk.embeddings.create(model="mistral-embed", input="one")
    assert upstream.requests[-1].json["encoding_format"] == "base64"
    assert made.data[0].embedding == [0.5, -1.0, 2.25]
    assert made.model == "mistral-embed"
    assert made.usage.prompt_tokens == made.usage.total_tokens == 8


async def test_the_sdk_reads_plain_vectors_of_many_texts(
    sdk: AsyncOpenAI, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(_vectors([0.5], [1.5])))
    made = await sdk.embeddings.create(
        model="mistral-embed", input=[[1, 2], [3]], encoding_format="float", user="u"
    )
    assert [item.embedding for item in made.data] == [[0.5], [1.5]]
    assert [item.index for item in made.data] == [0, 1]
    assert "user" not in upstream.requests[-1].json


async def test_the_sdk_raises_the_providers_own_refusal(
    sdk: AsyncOpenAI, upstream: ScriptedUpstream
) -> None:
    said = {
        "message": "Too many dimensions.",
        "type": "invalid_request_error",
        "param": "dimensions",
    }
    upstream.enqueue(json_reply({"error": said}, 400))
    with pytest.raises(openai.BadRequestError) as caught:
        await sdk.embeddings.create(model="mistral-embed", input="one", dimensions=9999)
    assert caught.value.param == "dimensions"
    assert "Too many dimensions." in caught.value.message

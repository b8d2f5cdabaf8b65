"""Google's two services behind the whole gateway: what goes up, what comes back, what it costs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller
from tests.upstream.service_accounts import claims, key_file, token
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Script, cut, json_reply, reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

CONFIG = """
[server]
expose_routes = false
[sandbox]
enabled = false

[providers.studio]
kind = "gemini"
base_url = "{studio}/v1beta"
api_key = "SECRET-1234"
catalogue = false

[providers.vertex]
kind = "vertex"
base_url = "{vertex}"
location = "europe-west4"
credentials = "file:{key_file}"
catalogue = false

[models."gemini-3.5-flash"]
routes = [{{ provider = "studio", priority = 1 }}, {{ provider = "vertex", priority = 2 }}]
price = {{ input = "1.00", cached_input = "0.10", output = "5.00" }}

[models."claude-opus-5-5"]
routes = ["vertex"]

[models."vertex-only"]
routes = [{{ provider = "vertex", model = "gemini-3.5-flash" }}]
price = {{ input = "1.00", output = "5.00" }}
"""
USAGE = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 800,
    "candidatesTokenCount": 15,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 1020,
}
VERTEX_PATH = "/v1/projects/my-project/locations/europe-west4/publishers/google/models/"


def piece(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more}


def error(code: int, status: str, **more: Any) -> Script:
    return json_reply({"error": {"code": code, "message": "m", "status": status, **more}}, code)


HELLO = piece({"text": "Hello"}, finish="STOP", usageMetadata=USAGE)
STREAM = [
    piece({"text": "hm", "thought": True}),
    piece({"text": "Hel"}),
    piece({"text": "lo"}, finish="STOP", usageMetadata=USAGE),
]


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedUpstream]:
    """Where tokens are given out."""
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def vertex() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
def config(
    upstream: ScriptedUpstream,
    vertex: ScriptedUpstream,
    endpoint: ScriptedUpstream,
    tmp_path: Path,
) -> str:
    (tmp_path / "account.json").write_text(key_file(endpoint.base_url + "/token"), "utf-8")
    return CONFIG.format(
        studio=upstream.base_url, vertex=vertex.base_url, key_file=tmp_path / "account.json"
    )


async def ask(caller: Caller, **fields: Any) -> Answer:
    return await caller.chat(**{"model": "gemini-3.5-flash", **fields})


async def test_a_plain_answer_comes_from_the_gemini_api(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(HELLO))
    answer = await ask(caller, reasoning_effort="low", logit_bias={"1": 2})
    sent = upstream.requests[0]
    assert sent.path == "/v1beta/models/gemini-3.5-flash:generateContent"
    assert sent.headers["x-goog-api-key"] == "SECRET-1234"
    assert "authorization" not in sent.headers
    assert sent.json == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}},
    }
    assert answer.status == 200
    assert answer.json["model"] == "gemini-3.5-flash"
    assert answer.json["choices"][0]["message"]["content"] == "Hello"
    assert answer.json["usage"]["completion_tokens_details"]["reasoning_tokens"] == 5
    assert answer.headers["x-zurelay-reasoning-effort"] == "low"
    assert answer.headers["x-zurelay-dropped-params"] == "logit_bias"
    row = await caller.logged(answer)
    # 200 at 1.00, 800 at 0.10 and 20 at 5.00 USD per million
    assert (row["cost_usd"], row["cost_estimated"]) == ("0.00038", False)


async def test_a_stream_needs_no_end_mark(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(sse_reply(STREAM))
    answer = await ask(caller, stream=True, stream_options={"include_usage": True})
    assert upstream.requests[0].path.endswith(":streamGenerateContent?alt=sse")
    assert answer.text == "Hello"
    thoughts = [c["delta"].get("reasoning_content") for x in answer.chunks for c in x["choices"]]
    assert "hm" in thoughts
    assert answer.events[-1] == "data: [DONE]"
    assert answer.chunks[-1]["usage"]["total_tokens"] == 1020
    assert (await caller.logged(answer))["status"] == "ok"


async def test_a_stream_that_is_cut_moves_on_before_the_first_token_and_fails_after(
    caller: Caller, upstream: ScriptedUpstream, vertex: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    whole = sse_reply(STREAM)
    upstream.enqueue(cut(whole, 120), cut(sse_reply(STREAM[1:]), 300))
    vertex.enqueue(sse_reply(STREAM))
    endpoint.enqueue(token())
    assert (await ask(caller, stream=True)).text == "Hello"
    broken = await ask(caller, stream=True)
    assert broken.text == "Hel"
    assert "error" in broken.chunks[-1]
    assert broken.events[-1] != "data: [DONE]"


async def test_a_proof_travels_through_the_caller_and_back_to_where_it_came_from(
    caller: Caller, upstream: ScriptedUpstream, vertex: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    call = {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "U0lH"}
    upstream.enqueue(
        json_reply(piece(call, finish="STOP", usageMetadata=USAGE)),
        json_reply(HELLO),
        error(503, "UNAVAILABLE"),
        error(503, "UNAVAILABLE"),
    )
    vertex.enqueue(json_reply(HELLO))
    endpoint.enqueue(token())
    tools = [{"type": "function", "function": {"name": "f"}}]
    first = await ask(caller, tools=tools)
    choice = first.json["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    said = choice["message"]
    result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "done"}
    history = [{"role": "user", "content": "Hi"}, said, result]
    for _ in range(2):
        assert (await ask(caller, tools=tools, messages=history)).status == 200
    (here,) = upstream.requests[1].json["contents"][1]["parts"]
    assert here["thoughtSignature"] == "U0lH"
    (there,) = vertex.requests[0].json["contents"][1]["parts"]
    assert there["functionCall"] == {"name": "f", "args": {"x": 1}}
    assert here["functionCall"] == {**there["functionCall"], "id": said["tool_calls"][0]["id"]}
    assert there["thoughtSignature"] == "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
    answered = upstream.requests[1].json["contents"][2]["parts"][0]["functionResponse"]
    assert (answered["name"], answered["response"]) == ("f", {"output": "done"})


async def test_vertex_is_asked_with_a_token_signed_for(
    caller: Caller, vertex: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(token("ya29.one"))
    vertex.enqueue(sse_reply(STREAM), json_reply(HELLO))
    assert (await ask(caller, model="vertex-only", stream=True)).text == "Hello"
    assert (await ask(caller, model="vertex-only")).status == 200
    assert [request.headers["authorization"] for request in vertex.requests] == [
        "Bearer ya29.one"
    ] * 2
    paths = [request.path for request in vertex.requests]
    assert paths == [
        f"{VERTEX_PATH}gemini-3.5-flash:streamGenerateContent?alt=sse",
        f"{VERTEX_PATH}gemini-3.5-flash:generateContent",
    ]
    assert "x-goog-api-key" not in vertex.requests[0].headers
    (asked,) = endpoint.requests
    assert claims(asked)["aud"] == endpoint.base_url + "/token"


@pytest.mark.parametrize("model", ["gemini-3.5-flash", "vertex-only"])
async def test_prompts_are_counted_by_google_itself(
    caller: Caller,
    upstream: ScriptedUpstream,
    vertex: ScriptedUpstream,
    endpoint: ScriptedUpstream,
    model: str,
) -> None:
    endpoint.enqueue(token())
    here = vertex if model == "vertex-only" else upstream
    here.enqueue(json_reply({"totalTokens": 321}))
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}]}
    answer = await caller.send(
        "POST", "/v1/messages/count_tokens", json.dumps(body).encode(), caller.gateway.headers
    )
    assert answer.json == {"input_tokens": 321}
    assert "x-zurelay-estimated" not in answer.headers
    assert here.requests[0].path.endswith("gemini-3.5-flash:countTokens")


async def test_a_film_at_youtube_is_watched_there(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(HELLO))
    part = {"type": "video_url", "video_url": {"url": "https://www.youtube.com/watch?v=abc"}}
    answer = await ask(caller, messages=[{"role": "user", "content": [part]}])
    assert answer.status == 200
    (sent,) = upstream.requests[0].json["contents"][0]["parts"]
    assert sent["fileData"]["fileUri"] == part["video_url"]["url"]  # type: ignore[index]


async def test_claude_on_vertex_is_reached_in_its_own_format(
    caller: Caller, vertex: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(token("ya29.one"))
    answer = {
        "id": "msg_vrtx_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    vertex.enqueue(json_reply(answer))
    found = await ask(caller, model="claude-opus-5-5", reasoning_effort="low")
    assert found.json["choices"][0]["message"]["content"] == "Hello"
    (sent,) = vertex.requests
    assert sent.path == VERTEX_PATH.replace("google", "anthropic") + "claude-opus-5-5:rawPredict"
    assert sent.headers["authorization"] == "Bearer ya29.one"
    assert sent.json["anthropic_version"] == "vertex-2023-10-16"
    assert sent.json["output_config"] == {"effort": "low"}
    assert "model" not in sent.json


async def test_without_a_token_the_credential_counts_as_refused(
    caller: Caller, vertex: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(json_reply({"error": "invalid_grant"}, 400))
    answer = await ask(caller, model="vertex-only")
    assert answer.status == 502
    assert "refused_credential" in answer.json["error"]["message"]
    assert "iam.gserviceaccount.com" not in answer.body.decode()
    assert vertex.requests == []
    (attempt,) = (await caller.logged(answer))["attempts"]
    assert attempt["reason"] == "refused_credential"


BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}
KEY_INVALID = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
DAY = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]


@pytest.mark.parametrize(
    "failing",
    [
        error(400, "INVALID_ARGUMENT", details=KEY_INVALID),
        error(429, "RESOURCE_EXHAUSTED", details=DAY),
        error(429, "RESOURCE_EXHAUSTED", details=[{"retryDelay": "30s"}]),
        error(404, "NOT_FOUND"),
        error(500, "INTERNAL"),
        reply(json.dumps([{"error": {"code": 403, "status": "PERMISSION_DENIED"}}]).encode(), 403),
        json_reply(piece(finish="MALFORMED_FUNCTION_CALL")),
        json_reply(piece(finish="STOP")),
        json_reply({}),
        reply(b"<html>"),
    ],
)
async def test_what_is_not_the_requests_fault_moves_on(
    caller: Caller,
    upstream: ScriptedUpstream,
    vertex: ScriptedUpstream,
    endpoint: ScriptedUpstream,
    failing: Script,
) -> None:
    upstream.enqueue(failing)
    vertex.enqueue(json_reply(HELLO))
    endpoint.enqueue(token())
    answer = await ask(caller)
    assert answer.status == 200
    row = await caller.logged(answer)
    assert [attempt["status"] for attempt in row["attempts"]] == ["failed", "ok"]


@pytest.mark.parametrize(
    ("failing", "status", "code"),
    [
        (error(400, "INVALID_ARGUMENT"), 400, "invalid_argument"),
        (json_reply(BLOCKED), 400, "safety"),
        (
            json_reply(
                {
                    "error": {
                        "code": 400,
                        "status": "INVALID_ARGUMENT",
                        "message": "The input token count (2) exceeds the maximum number of tokens",
                    }
                },
                400,
            ),
            400,
            "context_length_exceeded",
        ),
    ],
)
async def test_the_requests_own_fault_is_told_once(
    caller: Caller,
    upstream: ScriptedUpstream,
    vertex: ScriptedUpstream,
    failing: Script,
    status: int,
    code: str,
) -> None:
    upstream.enqueue(failing)
    answer = await ask(caller)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert vertex.requests == []


async def test_a_high_effort_is_streamed_upstream_and_told_whole(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(sse_reply(STREAM))
    answer = await ask(caller, reasoning_effort="high")
    assert upstream.requests[0].path.endswith("?alt=sse")
    assert answer.json["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Hello",
        "reasoning_content": "hm",
    }
    assert answer.json["usage"]["prompt_tokens_details"]["cached_tokens"] == 800


async def test_a_service_account_may_come_from_the_environment(tmp_path: Path) -> None:
    config = (
        '[providers.v]\nkind = "vertex"\nbase_url = "{}"\ncredentials = "$ACCOUNT"\n'
        'catalogue = false\n[models.m]\nroutes = ["v"]\n'
    )
    async with ScriptedUpstream(token()) as endpoint, ScriptedUpstream(json_reply(HELLO)) as vertex:
        environ = {"ACCOUNT": key_file(endpoint.base_url)}
        async with RunningGateway(tmp_path, config.format(vertex.base_url), environ) as gateway:
            client = HttpClient()
            answer = await Caller(gateway, client).chat(model="m")
            await client.aclose()
    assert answer.status == 200
    assert vertex.requests[0].path.endswith(
        "/locations/global/publishers/google/models/m:generateContent"
    )
    assert "thinkingConfig" not in vertex.requests[0].json.get("generationConfig", {})

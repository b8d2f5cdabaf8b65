"""OpenAI's newer models behind Chat Completions: the endpoint that takes the request is called."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.app.conftest import Caller
from tests.app.thinking import EFFORT, TOOLS, configuration, thoughts
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "ENC1",
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "f",
    "arguments": '{"a":1}',
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello there"}],
}
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 30},
    "total_tokens": 150,
}


def response(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    status = {"status": "completed", **fields}
    return {"id": "resp_1", "object": "response", "output": [*output], "usage": USAGE, **status}


def events(*output: dict[str, Any]) -> Script:
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"status": "in_progress"}}
    ]
    for place, item in enumerate(output):
        told.append({"type": "response.output_item.added", "output_index": place, "item": item})
        told.append({"type": "response.output_item.done", "output_index": place, "item": item})
    told.append({"type": "response.completed", "response": response(*output)})
    return sse_reply(told)


def openai(request: Request) -> Script:
    """OpenAI's two endpoints with their real refusals (litellm #34569)."""
    body = request.json
    if request.path == "/responses":
        item = CALL if body.get("tools") else MESSAGE
        output = (item,) if body.get("reasoning") == {"effort": "none"} else (REASONING, item)
        return events(*output) if body.get("stream") else json_reply(response(*output))
    if body.get("tools") and body.get("reasoning_effort") != "none":
        told = "Function tools with reasoning_effort are not supported in /v1/chat/completions."
        return json_reply({"error": {"message": told}}, 400)
    return sse_reply(chat_chunks("chat")) if body.get("stream") else json_reply(chat_reply("chat"))


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=openai) as server:
        yield server


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return configuration(upstream)


@pytest.mark.parametrize(
    ("model", "fields", "path", "used"),
    [
        ("gpt-6-sol", {"tools": TOOLS, "reasoning_effort": "high"}, "/responses", "high"),
        ("gpt-6-sol", {"tools": TOOLS}, "/responses", "medium"),
        ("gpt-6-sol", {"tools": TOOLS, "reasoning_effort": "none"}, "/chat/completions", "none"),
        ("gpt-6-sol", {"reasoning_effort": "max"}, "/responses", "max"),
        ("gpt-6-sol", {"reasoning_effort": "low"}, "/responses", "low"),  # Chat shares no thinking
        ("gpt-5.5-pro", {"reasoning_effort": "none"}, "/responses", "medium"),
        ("gpt-4.1", {"tools": TOOLS[:0], "reasoning_effort": "high"}, "/chat/completions", "none"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_endpoint_that_takes_the_request_is_called(
    caller: Caller,
    upstream: ScriptedUpstream,
    model: str,
    fields: dict[str, Any],
    path: str,
    used: str,
    stream: bool,
) -> None:
    answer = await caller.chat(model=model, stream=stream, **fields)
    assert (answer.status, upstream.requests[0].path) == (200, path)
    assert answer.headers[EFFORT] == used
    assert len(upstream.requests) == 1


async def test_a_file_goes_where_files_are_taken(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    file = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    content = [{"type": "text", "text": "Sum up"}, {"type": "file", "file": file}]
    answer = await caller.chat(model="gpt-4.1", messages=[{"role": "user", "content": content}])
    assert answer.status == 200
    (sent,) = upstream.requests
    assert sent.path == "/responses"
    assert sent.json["input"][0]["content"][1] == {"type": "input_file", **file}
    assert "reasoning" not in sent.json


async def test_the_tool_loop_of_a_plain_client_works_and_keeps_the_thinking(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    asked: dict[str, Any] = {"model": "gpt-6-sol", "reasoning_effort": "high", "tools": TOOLS}
    first = (await caller.chat(**asked)).json["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    assert first["message"]["reasoning_content"] == "Hm."
    (call,) = first["message"]["tool_calls"]
    assert (call["id"], call["function"]["arguments"]) == ("call_1", '{"a":1}')
    history = [
        {"role": "user", "content": "Hi"},
        first["message"],
        {"role": "tool", "tool_call_id": "call_1", "content": "r"},
    ]
    await caller.chat(messages=history, **asked)
    sent = upstream.requests[-1].json
    assert sent["store"] is False
    assert sent["include"] == ["reasoning.encrypted_content"]
    assert [item.get("type") for item in sent["input"]] == [
        None,
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert sent["input"][1]["encrypted_content"] == "ENC1"
    bare = [
        {name: value for name, value in turn.items() if "reasoning" not in name} for turn in history
    ]
    assert (await caller.chat(messages=bare, **asked)).status == 200


async def test_a_stream_is_translated_and_billed(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    options = {"include_usage": True}
    answer = await caller.chat(
        model="gpt-6-sol", reasoning_effort="low", stream=True, stream_options=options
    )
    assert (thoughts(answer), answer.text) == (["Hm."], "Hello there")
    assert answer.chunks[-1]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 30}
    assert answer.events[-1] == "data: [DONE]"
    assert {chunk["model"] for chunk in answer.chunks} == {"gpt-6-sol"}
    row = await caller.logged(answer)
    assert row["usage"]["completion_tokens"] == 50
    assert row["cost_estimated"] is False


async def test_a_stop_sequence_is_cut_by_the_gateway(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    answer = await caller.chat(model="gpt-6-sol", reasoning_effort="low", stop="there")
    assert "stop" not in upstream.requests[0].json
    choice = answer.json["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello ", "stop")


async def test_an_account_that_may_not_ask_for_summaries_is_asked_again_without_and_then_known(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    told = "Your organization must be verified to generate reasoning summaries."
    error = {"message": told, "param": "reasoning.summary", "code": "unsupported_value"}
    upstream.enqueue(json_reply({"error": error}, 400))
    for _ in range(2):
        answer = await caller.chat(model="gpt-6-sol", reasoning_effort="low")
        assert answer.status == 200
    asked = [request.json["reasoning"] for request in upstream.requests]
    assert asked == [{"effort": "low", "summary": "auto"}, {"effort": "low"}, {"effort": "low"}]


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        (
            json_reply(response(status="failed", error={"code": "server_error", "message": "x"})),
            502,
            "upstream_failed",
        ),
        (
            json_reply({"error": {"message": "no", "param": "input[0]", "code": "invalid"}}, 400),
            400,
            "invalid",
        ),
    ],
)
async def test_faults_are_told_in_the_callers_words(
    caller: Caller, upstream: ScriptedUpstream, script: Script, status: int, code: str
) -> None:
    upstream.enqueue(script, script)
    answer = await caller.chat(model="gpt-6-sol", reasoning_effort="low")
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (status, code)
    if status == 400:
        assert error["param"] == "messages"


async def test_a_stream_without_its_last_event_ends_with_an_error(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}
    upstream.enqueue(sse_reply([delta]))
    answer = await caller.chat(model="gpt-6-sol", reasoning_effort="low", stream=True)
    assert answer.text == "Hel"
    assert "error" in json.loads(answer.events[-1].removeprefix("data: "))

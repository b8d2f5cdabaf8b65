"""What a model was only told in words, through the whole gateway: JSON, and a call of a tool."""

import json
from typing import Any

import pytest

from tests.app.conftest import Caller, Start
from tests.app.gateways import configuration
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
JSON_OBJECT = {"type": "json_object"}
QUIRKS = 'catalogue = false\nquirks = { forced_tools = "never", json_schema = "none" }\n'
REASONS = '[models."test-model"]\nreasoning = { levels = ["low", "high"] }\n'


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream) -> Caller:
    config = configuration(upstream, second).replace("catalogue = false\n", QUIRKS)
    return await start(config.replace('[models."test-model"]\n', REASONS))


def _content(answer: Any) -> Any:
    assert answer.status == 200, answer.body
    return answer.json["choices"][0]["message"]["content"]


async def _call(caller: Caller, **fields: Any) -> Any:
    return await caller.chat(tools=[TOOL], tool_choice="required", **fields)


async def test_json_comes_without_its_fence_and_is_reported(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply('```json\n{"a": 1}\n```')))
    answer = await caller.chat(response_format=JSON_OBJECT)
    assert json.loads(_content(answer)) == {"a": 1}
    assert answer.headers["x-zurelay-dropped-params"] == "response_format"
    sent = upstream.requests[0].json
    assert "response_format" not in sent
    assert "JSON" in json.dumps(sent["messages"])


async def test_prose_is_a_failed_attempt_and_the_next_route_answers(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("The people are Ana")))
    second.enqueue(json_reply(chat_reply('{"names": ["Ana"]}')))
    answer = await caller.chat(response_format=JSON_OBJECT)
    assert json.loads(_content(answer)) == {"names": ["Ana"]}
    row = await caller.logged(answer)
    assert [a["reason"] for a in row["attempts"]] == ["bad_answer", None]


async def test_prose_everywhere_is_no_answer(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("The people are Ana")))
    second.enqueue(json_reply(chat_reply("Ana")))
    answer = await caller.chat(response_format=JSON_OBJECT)
    assert (answer.status, answer.json["error"]["code"]) == (502, "upstream_failed")


async def test_a_long_answer_is_looked_at_once_its_pieces_are_together(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("The people are Ana", usage={"prompt_tokens": 9})))
    second.enqueue(sse_reply(chat_chunks(["```json\n", '{"a": ', "1}\n```"])))
    answer = await caller.chat(response_format=JSON_OBJECT, reasoning_effort="high")
    assert upstream.requests[0].json["stream"] is True
    assert json.loads(_content(answer)) == {"a": 1}


async def test_a_stream_comes_without_the_fence(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(sse_reply(chat_chunks(["```", "json\n{", '"a": 1}', "\n```"])))
    answer = await caller.chat(response_format=JSON_OBJECT, stream=True)
    assert json.loads(answer.text) == {"a": 1}


async def test_without_a_call_the_next_route_is_asked(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("I could call f.")))
    called = chat_reply(None, tool_calls=[CALL], finish_reason="tool_calls")
    second.enqueue(json_reply(called))
    answer = await _call(caller)
    assert answer.json["choices"][0]["message"]["tool_calls"]
    assert answer.headers["x-zurelay-dropped-params"] == "tool_choice"
    assert second.requests[0].json["tool_choice"] == "auto"


async def test_a_second_answer_without_a_call_is_given_as_it_is(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("First.")))
    second.enqueue(json_reply(chat_reply("Second.")))
    answer = await _call(caller)
    assert _content(answer) == "Second."
    assert answer.headers["x-zurelay-dropped-params"] == "tool_choice"


@pytest.mark.parametrize("effort", ["low", "high"])
async def test_the_first_answer_is_given_and_billed_where_no_other_route_answers(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream, effort: str
) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0, "total_tokens": 1000}
    if effort == "high":
        upstream.enqueue(sse_reply(chat_chunks("First answer.", usage=usage)))
    else:
        upstream.enqueue(json_reply(chat_reply("First answer.", usage=usage)))
    second.enqueue(json_reply({"error": {"message": "no"}}, 400))
    answer = await _call(caller, reasoning_effort=effort)
    assert _content(answer) == "First answer."
    assert answer.headers["x-zurelay-dropped-params"] == "tool_choice"
    row = await caller.logged(answer)
    assert (row["status"], row["http_status"], row["error"]) == ("ok", 200, None)
    assert row["cost_usd"] == "0.001"
    assert [a["status"] for a in row["attempts"]] == ["ok", "failed"]
    assert len(upstream.requests) == len(second.requests) == 1


async def test_a_model_with_one_route_answers_as_it_can(
    caller: Caller, second: ScriptedUpstream
) -> None:
    second.enqueue(json_reply(chat_reply("I could call f.")))
    assert _content(await _call(caller, model="other-model")) == "I could call f."
    assert len(second.requests) == 1


async def test_a_stream_without_a_call_is_given_as_it_comes(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("I could.")))
    answer = await _call(caller, stream=True)
    assert answer.text == "I could."
    assert second.requests == []

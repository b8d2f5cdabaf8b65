"""The Responses endpoint before a scripted upstream that speaks Chat Completions: streams, faults."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start
from tests.app.gateways import configuration
from tests.app.test_responses_upstream import MESSAGE, REASONING, response
from tests.app.test_responses_upstream import openai as same
from tests.app.thinking import EFFORT
from tests.app.thinking import configuration as openai
from tests.formats.openai_responses.answered import LifeCycle, events
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import (
    Close,
    Pause,
    Reset,
    Script,
    Stall,
    Step,
    chunk,
    json_reply,
    sse_event,
    sse_reply,
)
from zurelay.testing.upstream import ScriptedUpstream

FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}}
CUSTOM = {"type": "custom", "name": "patch"}
EARLY = "early_open_s = 0.1\nkeep_alive_s = 0.1"


async def respond(
    caller: Caller, headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    body = {"model": "test-model", "input": "Hi", **fields}
    extra = {**caller.gateway.headers, **(headers or {}), "content-type": "application/json"}
    return await caller.send("POST", "/v1/responses", json.dumps(body).encode(), extra)


def started(*told: dict[str, Any], end: Step) -> Script:
    """The head of a stream, some chunks, and then no more."""
    steps: list[Step] = list(sse_reply([])[:-1])
    return [*steps, *(chunk(sse_event(each)) for each in told), end]


def called(index: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
    return chat_chunk({"tool_calls": [call]})


async def test_a_plain_answer(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello")))
    answer = await respond(caller, instructions="Be kind", metadata={"a": "b"}, store=True)
    assert answer.status == 200
    response = answer.json
    assert response["id"].startswith("resp_")
    assert (response["model"], response["status"]) == ("test-model", "completed")
    assert response["output"][0]["content"][0]["text"] == "Hello"
    assert response["usage"]["total_tokens"] == chat_usage()["total_tokens"]
    assert (response["store"], response["metadata"]) == (False, {"a": "b"})
    assert answer.headers["x-zurelay-dropped-params"] == "store"
    (sent,) = upstream.requests
    assert sent.path.endswith("/chat/completions")
    assert [m["role"] for m in sent.json["messages"]] == ["system", "user"]
    assert "metadata" not in sent.json
    row = await caller.logged(answer)
    assert (row["status"], row["metadata"]) == ("ok", {"a": "b"})


async def test_a_stream_of_thinking_text_and_calls(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    told: list[dict[str, Any] | str] = [
        chat_chunk({"role": "assistant", "reasoning_content": "Hm"}),
        chat_chunk({"content": "Let me see."}),
        called(0, "f", '{"a":1}'),
        called(1, "patch", '{"input":"+x"}'),
        chat_chunk({}, finish_reason="tool_calls"),
        {**chat_chunk({}), "choices": [], "usage": chat_usage()},
        "[DONE]",
    ]
    upstream.enqueue(sse_reply(told))
    answer = await respond(caller, stream=True, tools=[FUNCTION, CUSTOM])
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    cycle = LifeCycle.of(answer.body)
    assert [item["type"] for item in cycle.response["output"]] == [
        "reasoning",
        "message",
        "function_call",
        "custom_tool_call",
    ]
    assert cycle.response["usage"]["input_tokens"] == chat_usage()["prompt_tokens"]
    assert b"[DONE]" not in answer.body


async def test_what_was_said_goes_back_into_the_next_turn(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    first = chat_reply(None, finish_reason="tool_calls", tool_calls=[call])
    upstream.enqueue(json_reply(first), json_reply(chat_reply("Done")))
    question = {"role": "user", "content": "Hi"}
    output = (await respond(caller, input=[question], tools=[FUNCTION])).json["output"]
    result = {"type": "function_call_output", "call_id": output[0]["call_id"], "output": "7"}
    answer = await respond(caller, input=[question, *output, result], tools=[FUNCTION])
    assert answer.json["output"][0]["content"][0]["text"] == "Done"
    roles = [message["role"] for message in upstream.requests[1].json["messages"]]
    assert roles == ["user", "assistant", "tool"]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_cut_stream_is_incomplete(
    caller: Caller, upstream: ScriptedUpstream, reason: str
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hello you", finish_reason=reason)))
    cycle = LifeCycle.of((await respond(caller, stream=True)).body)
    assert cycle.ended == "incomplete"


@pytest.mark.parametrize("end", [Close(), Reset()])
async def test_a_stream_that_breaks_off_fails_after_what_was_said(
    caller: Caller, upstream: ScriptedUpstream, end: Step
) -> None:
    upstream.enqueue(started(*chat_chunks(["He", "llo"])[:3], end=end))  # type: ignore[arg-type]
    answer = await respond(caller, stream=True)
    assert answer.status == 200
    cycle = LifeCycle.of(answer.body)
    assert cycle.ended == "failed"
    assert cycle.response["error"]["code"] == "upstream_failed"
    said = [e["delta"] for e in events(answer.body) if e["type"] == "response.output_text.delta"]
    assert said == ["He", "llo"]
    row = await caller.logged(answer)
    assert row["status"] == "error"
    assert row["usage"]["completion_tokens"] > 0


async def test_a_stream_that_opened_early_and_fails_still_begins(
    start: Start, upstream: ScriptedUpstream
) -> None:
    routing = "start_deadline_s = 0.5\nattempts = 1"
    caller = await start(configuration(upstream, streaming=EARLY, routing=routing))
    upstream.enqueue(started(end=Stall()))
    answer = await respond(caller, stream=True)
    assert answer.body.startswith(b": keep-alive\n\n")
    cycle = LifeCycle.of(answer.body)
    assert cycle.ended == "failed"
    assert cycle.response["model"] == "test-model"
    assert cycle.response["error"]["code"] == "upstream_timeout"


async def test_the_next_route_takes_over_unseen(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second))
    upstream.enqueue(json_reply({"error": {"message": "busy"}}, 503))
    second.enqueue(sse_reply(chat_chunks("Hi")))
    cycle = LifeCycle.of((await respond(caller, stream=True)).body)
    assert cycle.response["output"][0]["content"][0]["text"] == "Hi"


async def test_errors_have_openais_shape(caller: Caller, upstream: ScriptedUpstream) -> None:
    answer = await respond(caller, previous_response_id="resp_1")
    assert answer.status == 400
    error = answer.json["error"]
    assert (error["code"], error["param"]) == ("unsupported_content", "previous_response_id")
    assert not upstream.requests
    unknown = await respond(caller, reasoning={"effort": "huge"})
    assert (unknown.status, unknown.json["error"]["param"]) == (400, "reasoning.effort")


async def test_a_repeat_gets_the_same_answer(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hi")))
    again = {"idempotency-key": "k1"}
    first = await respond(caller, again, stream=True)
    assert (await respond(caller, again, stream=True)).body == first.body
    assert len(upstream.requests) == 1


@pytest.fixture
async def vendor() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=same) as server:
        yield server


async def test_an_upstream_that_speaks_it_too_gets_the_callers_own_words(
    start: Start, vendor: ScriptedUpstream
) -> None:
    caller = await start(openai(vendor))
    asked = [{"role": "user", "content": "Hi", "phase": "x"}]
    answer = await respond(caller, model="gpt-4.1", input=asked, new_field=1)
    assert answer.status == 200
    (sent,) = vendor.requests
    assert sent.path == "/responses"
    assert (sent.json["input"], sent.json["new_field"], sent.json["store"]) == (asked, 1, False)
    assert answer.json["model"] == "gpt-4.1"


async def test_encrypted_thinking_goes_round_and_the_levels_are_the_models(
    start: Start, vendor: ScriptedUpstream
) -> None:
    caller = await start(openai(vendor))
    question = {"role": "user", "content": "Hi"}
    fields: dict[str, Any] = {
        "model": "gpt-6-sol",
        "reasoning": {"effort": "max"},
        "tools": [FUNCTION],
    }
    first = await respond(caller, input=[question], stream=True, **fields)
    assert first.headers[EFFORT] == "max"
    output = events(first.body)[-1]["response"]["output"]
    result = {"type": "function_call_output", "call_id": "call_1", "output": "1"}
    second = await respond(caller, input=[question, *output, result], **fields)
    assert second.status == 200
    thought = vendor.requests[1].json["input"][1]
    assert (thought["type"], thought["encrypted_content"]) == ("reasoning", "ENC1")


async def test_the_last_event_may_have_no_output_and_others_may_stand_between(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(openai(upstream))
    script: list[dict[str, Any] | str] = [
        {"type": "codex.rate_limits", "left": 1},
        {"type": "response.output_item.added", "output_index": 0, "item": REASONING},
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
        {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE},
        {"type": "response.completed", "response": {**response(), "output": []}},
    ]
    for stream in (True, False):
        upstream.enqueue(sse_reply(script))
        answer = await respond(
            caller, model="gpt-6-sol", stream=stream, reasoning={"effort": "high"}
        )
        found = events(answer.body)[-1]["response"] if stream else answer.json
        assert [item["type"] for item in found["output"]] == ["reasoning", "message"]
        assert b"rate_limits" not in answer.body


async def test_a_silence_is_filled_between_events_and_said_late_before_the_last(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, streaming=EARLY))
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply({"error": {"message": "busy"}}, 500)])
    second.enqueue(sse_reply(chat_chunks("Hi")))
    asking = asyncio.ensure_future(respond(caller, stream=True, store=True))
    await upstream.wait_requests()
    await asyncio.sleep(0.3)
    go.set()
    answer = await asking
    comment, _, last = answer.body.rpartition(b"event: response.completed\n")
    assert answer.body.startswith(b": keep-alive\n\n")
    assert comment.endswith(b"x-zurelay-dropped-params=store\n\n")
    assert last.startswith(b"data: {")
    assert LifeCycle.of(answer.body).ended == "completed"


async def test_an_unknown_model_is_refused_in_the_same_words(caller: Caller) -> None:
    answer = await respond(caller, model="test-modle")
    assert (answer.status, answer.json["error"]["code"]) == (404, "model_not_found")

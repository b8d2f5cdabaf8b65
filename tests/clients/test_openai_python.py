"""The official Python SDK against a running gateway: what its users do, and what they catch."""

import asyncio
import json
import time
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import BaseModel

from tests.served import Served

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello, gateway."}]
WEATHER: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


class City(BaseModel):
    name: str
    population: int


def test_a_plain_answer(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="sandbox/echo", messages=HELLO)
    assert answer.choices[0].message.content == "Hello, gateway."
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.id.startswith("chatcmpl-")
    assert answer.object == "chat.completion"
    assert answer.model == "sandbox/echo"
    assert abs(answer.created - time.time()) < 60
    usage = answer.usage
    assert usage is not None
    assert usage.prompt_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 0


def test_a_stream_says_what_the_plain_answer_says(client: OpenAI) -> None:
    stream = client.chat.completions.create(model="sandbox/echo", messages=HELLO, stream=True)
    chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "Hello, gateway."
    assert [c.choices[0].finish_reason for c in chunks][-1] == "stop"
    assert {c.object for c in chunks} == {"chat.completion.chunk"}
    assert len({c.id for c in chunks}) == 1
    assert {c.model for c in chunks} == {"sandbox/echo"}
    assert all(c.usage is None for c in chunks)


def test_usage_comes_last_and_only_when_asked_for(client: OpenAI) -> None:
    *chunks, last = client.chat.completions.create(
        model="sandbox/usage?prompt=1000&cached=800&completion=50",
        messages=HELLO,
        stream=True,
        stream_options={"include_usage": True},
    )
    assert all(c.usage is None for c in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (1000, 50)
    assert last.usage.prompt_tokens_details is not None
    assert last.usage.prompt_tokens_details.cached_tokens == 800


def test_the_sdks_own_stream_helper_follows(client: OpenAI) -> None:
    with client.chat.completions.stream(model="sandbox/echo", messages=HELLO) as stream:
        kinds = [event.type for event in stream]
        answer = stream.get_final_completion()
    assert kinds.count("content.done") == 1
    assert answer.choices[0].message.content == "Hello, gateway."


def test_tokens_arrive_while_the_rest_is_still_being_made(client: OpenAI) -> None:
    began = time.monotonic()
    stream = client.chat.completions.create(
        model="sandbox/lorem?tokens=20&tps=40", messages=HELLO, stream=True
    )
    arrivals = [time.monotonic() - began for chunk in stream if chunk.choices[0].delta.content]
    assert len(arrivals) > 10
    assert arrivals[-1] >= 19 / 40
    assert arrivals[0] < arrivals[-1] / 2


def test_a_tool_is_called_and_its_result_used(client: OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Weather in Paris?"}]
    first = client.chat.completions.create(
        model="sandbox/tools", messages=messages, tools=[WEATHER]
    )
    assert first.choices[0].finish_reason == "tool_calls"
    (call,) = first.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "get_weather"
    assert isinstance(json.loads(call.function.arguments)["city"], str)
    messages += [
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": call.function.arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"},
    ]
    second = client.chat.completions.create(
        model="sandbox/tools", messages=messages, tools=[WEATHER]
    )
    assert second.choices[0].finish_reason == "stop"
    assert second.choices[0].message.content


def test_a_tool_call_streams_name_first_and_arguments_in_pieces(client: OpenAI) -> None:
    deltas = [
        delta
        for chunk in client.chat.completions.create(
            model="sandbox/tools",
            messages=[{"role": "user", "content": "Weather in Paris?"}],
            tools=[WEATHER],
            stream=True,
        )
        for choice in chunk.choices
        for delta in choice.delta.tool_calls or []
    ]
    assert deltas[0].id
    assert deltas[0].function is not None
    assert deltas[0].function.name == "get_weather"
    arguments = "".join(d.function.arguments or "" for d in deltas if d.function)
    assert "city" in json.loads(arguments)


def test_structured_output_is_parsed_by_the_sdk(client: OpenAI) -> None:
    answer = client.chat.completions.parse(
        model="sandbox/json", messages=HELLO, response_format=City
    )
    assert isinstance(answer.choices[0].message.parsed, City)


def test_thinking_comes_beside_the_answer(client: OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="sandbox/reasoning", messages=HELLO, reasoning_effort="high"
    )
    answer = raw.parse()
    message = answer.choices[0].message.to_dict()
    assert message["reasoning_content"]
    assert message["content"]
    assert raw.headers["x-zurelay-reasoning-effort"] == "high"
    assert answer.usage is not None
    assert answer.usage.completion_tokens_details is not None
    assert (answer.usage.completion_tokens_details.reasoning_tokens or 0) > 0


def test_thinking_streams_before_the_text(client: OpenAI) -> None:
    seen = [
        key
        for chunk in client.chat.completions.create(
            model="sandbox/reasoning", messages=HELLO, stream=True
        )
        for key in ("reasoning_content", "content")
        if chunk.choices[0].delta.to_dict().get(key)
    ]
    assert set(seen) == {"reasoning_content", "content"}
    assert seen == sorted(seen, reverse=True)


def test_a_refusal_is_a_refusal(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="sandbox/refusal", messages=HELLO)
    assert answer.choices[0].message.refusal
    assert not answer.choices[0].message.content


def test_a_token_limit_ends_the_answer(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="sandbox/lorem?tokens=50&tps=1000", messages=HELLO, max_completion_tokens=5
    )
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 5


def test_models_are_listed_and_found_by_id(client: OpenAI) -> None:
    assert "sandbox/echo" in [model.id for model in client.models.list()]
    assert client.models.retrieve("sandbox/echo").id == "sandbox/echo"


def test_every_answer_carries_its_request_id_and_the_log_knows_it(client: OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="sandbox/echo", messages=HELLO, user="someone", metadata={"job": "seven"}
    )
    request_id = raw.headers["x-request-id"]
    assert request_id.startswith("req_")
    assert raw.parse()._request_id == request_id
    entry = client.get(f"/requests/{request_id}", cast_to=dict)
    assert entry["status"] == "ok"
    assert (entry["user"], entry["metadata"]) == ("someone", {"job": "seven"})
    assert entry["usage"]["total_tokens"] == raw.parse().usage.total_tokens  # type: ignore[union-attr]


def test_an_unknown_model_is_not_found_and_the_nearest_is_named(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="sandbox/echo") as caught:
        client.chat.completions.create(model="sandbox/ecko", messages=HELLO)
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"


def test_a_wrong_key_is_an_authentication_error(client: OpenAI) -> None:
    with pytest.raises(openai.AuthenticationError) as caught:
        client.with_options(api_key="zk-wrong").models.list()
    assert caught.value.code == "invalid_api_key"


def test_a_bad_field_is_named_by_its_path(client: OpenAI) -> None:
    wrong: Any = {"role": "nobody", "content": "x"}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(
            model="sandbox/echo",
            messages=[*HELLO, wrong],
        )
    assert caught.value.param == "messages[1].role"
    assert caught.value.code == "invalid_value"


def test_a_rate_limit_is_tried_again_after_the_time_it_names(
    client: OpenAI, naps: list[float]
) -> None:
    with pytest.raises(openai.RateLimitError) as caught:
        client.with_options(max_retries=1).chat.completions.create(
            model="sandbox/rate-limit?retry_after=30", messages=HELLO
        )
    assert caught.value.code == "rate_limit_exceeded"
    # The route rests, so a test before this one may have begun its time; short rests are waited out.
    assert 4 < float(caught.value.response.headers["retry-after"]) <= 30
    assert len(naps) == 1
    assert 4 < naps[0] <= 31


def test_a_failed_upstream_is_not_tried_again_by_the_sdk(client: OpenAI, naps: list[float]) -> None:
    with pytest.raises(openai.InternalServerError) as caught:
        client.with_options(max_retries=3).chat.completions.create(
            model="sandbox/error?status=500", messages=HELLO
        )
    assert caught.value.status_code == 502
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert naps == []


def test_a_stream_cut_upstream_is_an_error_and_never_looks_whole(client: OpenAI) -> None:
    text = ""
    stream = client.chat.completions.create(
        model="sandbox/cut?after=5", messages=HELLO, stream=True
    )
    with pytest.raises(openai.APIError) as caught:
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
            assert chunk.choices[0].finish_reason is None
    assert text
    assert caught.value.code == "upstream_failed"


async def test_leaving_a_stream_cancels_it_and_the_log_says_so(served: Served) -> None:
    async with AsyncOpenAI(
        base_url=served.base_url, api_key=served.key, max_retries=0, timeout=20
    ) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="sandbox/lorem?tokens=5000&tps=50", messages=HELLO, stream=True
        )
        stream = raw.parse()
        async for _ in stream:
            break
        await stream.close()
        for _ in range(100):
            entry = await client.get(f"/requests/{raw.headers['x-request-id']}", cast_to=dict)
            if entry["status"] != "running":
                break
            await asyncio.sleep(0.05)
    assert entry["status"] == "client_closed"
    assert entry["usage"]["completion_tokens"] < 1000

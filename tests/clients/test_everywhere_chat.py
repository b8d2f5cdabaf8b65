"""OpenAI's Python SDK on Chat Completions, against upstreams of every format."""

import json
from typing import Any, cast

import openai
import pytest
from openai import OpenAI
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessageParam,
    ChatCompletionToolParam,
)
from pydantic import BaseModel

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


def ask(sdk: OpenAI, streams: bool, **asked: Any) -> ChatCompletion:
    """A whole answer, or a stream put together by the SDK's own helper."""
    if not streams:
        plain: ChatCompletion = sdk.chat.completions.create(**asked)
        return plain
    with sdk.chat.completions.stream(**asked) as stream:
        stream.until_done()
        return cast("ChatCompletion", stream.get_final_completion())


def back(answer: ChatCompletion) -> ChatCompletionMessageParam:
    """The answer as a caller sends it back: all of it."""
    sent = answer.choices[0].message.to_dict(exclude_none=True)
    sent.pop("parsed", None)
    return cast("ChatCompletionMessageParam", sent)


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    options: dict[str, Any] = {"stream_options": {"include_usage": True}} if streams else {}
    answer = ask(openai_sdk, streams, model=f"{upstream}-echo", messages=HELLO, **options)
    assert answer.choices[0].message.content == "Hello, gateway."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == f"{upstream}-echo"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens == 2


@pytest.mark.parametrize("streams", [False, True])
def test_tools_there_and_back(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Weather in Paris?"}]
    asked: dict[str, Any] = {"model": f"{upstream}-tools", "tools": [WEATHER]}
    first = ask(openai_sdk, streams, messages=messages, **asked)
    assert first.choices[0].finish_reason == "tool_calls"
    (call,) = first.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "get_weather"
    assert isinstance(json.loads(call.function.arguments)["city"], str)
    messages += [back(first), {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}]
    second = ask(openai_sdk, streams, messages=messages, **asked)
    assert second.choices[0].finish_reason == "stop"
    assert second.choices[0].message.content == (
        "From the tool results: get_weather answered: 21 degrees"
    )


@pytest.mark.parametrize("streams", [False, True])
def test_thinking_comes_and_goes_back(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    asked: dict[str, Any] = {"model": f"{upstream}-reasoning", "reasoning_effort": "low"}
    first = ask(openai_sdk, streams, messages=HELLO, **asked)
    told = first.choices[0].message.to_dict()
    assert str(told["reasoning_content"]).startswith("The question is: Hello, gateway.")
    assert told["content"] == "Answered after thinking at effort low: Hello, gateway."
    again: list[ChatCompletionMessageParam] = [
        *HELLO,
        back(first),
        {"role": "user", "content": "Sure?"},
    ]
    second = ask(openai_sdk, streams, messages=again, **asked)
    assert second.choices[0].message.content == "Answered after thinking at effort low: Sure?"


def test_thinking_is_counted(openai_sdk: OpenAI, upstream: str) -> None:
    answer = openai_sdk.chat.completions.create(
        model=f"{upstream}-reasoning", messages=HELLO, reasoning_effort="low"
    )
    usage = answer.usage
    assert usage is not None
    assert usage.completion_tokens_details is not None
    assert usage.completion_tokens_details.reasoning_tokens == 20
    assert usage.completion_tokens > 20


def test_structured_output(openai_sdk: OpenAI, upstream: str) -> None:
    answer = openai_sdk.chat.completions.parse(
        model=f"{upstream}-json", messages=HELLO, response_format=City
    )
    assert isinstance(answer.choices[0].message.parsed, City)


def test_cached_input_is_counted(openai_sdk: OpenAI, upstream: str) -> None:
    usage = openai_sdk.chat.completions.create(model=f"{upstream}-usage", messages=HELLO).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (1000, 50)
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 800


def test_a_refusal(openai_sdk: OpenAI, upstream: str) -> None:
    answer = openai_sdk.chat.completions.create(model=f"{upstream}-refusal", messages=HELLO)
    assert not answer.choices[0].message.content


@pytest.mark.parametrize(
    ("model", "caught"),
    [("rate-limit", openai.RateLimitError), ("error", openai.InternalServerError)],
)
def test_errors(openai_sdk: OpenAI, upstream: str, model: str, caught: type[Exception]) -> None:
    with pytest.raises(caught):
        openai_sdk.chat.completions.create(model=f"{upstream}-{model}", messages=HELLO)


def test_a_cut_stream_raises(openai_sdk: OpenAI, upstream: str) -> None:
    stream = openai_sdk.chat.completions.create(
        model=f"{upstream}-cut", messages=HELLO, stream=True
    )
    with pytest.raises(openai.APIError):
        list(stream)

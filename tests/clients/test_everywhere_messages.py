"""Anthropic's Python SDK on Messages, against upstreams of every format."""

from typing import Any, cast

import anthropic
import pytest
from anthropic import Anthropic
from anthropic.types import Message, MessageParam, ToolParam
from pydantic import BaseModel

HELLO: list[MessageParam] = [{"role": "user", "content": "Hello, gateway."}]
WEATHER: ToolParam = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


class City(BaseModel):
    name: str
    population: int


def ask(sdk: Anthropic, streams: bool, **asked: Any) -> Message:
    """A whole answer, or a stream put together by the SDK's own helper."""
    if not streams:
        plain: Message = sdk.messages.create(max_tokens=5000, **asked)
        return plain
    with sdk.messages.stream(max_tokens=5000, **asked) as stream:
        return cast("Message", stream.get_final_message())


def back(answer: Message) -> MessageParam:
    """The answer as a caller sends it back: all of it."""
    return {"role": "assistant", "content": cast("Any", answer.content)}


def text(answer: Message) -> str:
    return "".join(block.text for block in answer.content if block.type == "text")


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer(anthropic_sdk: Anthropic, upstream: str, streams: bool) -> None:
    answer = ask(anthropic_sdk, streams, model=f"{upstream}-echo", messages=HELLO)
    assert text(answer) == "Hello, gateway."
    assert answer.stop_reason == "end_turn"
    assert answer.model == f"{upstream}-echo"
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens == 2


@pytest.mark.parametrize("streams", [False, True])
def test_tools_there_and_back(anthropic_sdk: Anthropic, upstream: str, streams: bool) -> None:
    messages: list[MessageParam] = [{"role": "user", "content": "Weather in Paris?"}]
    asked: dict[str, Any] = {"model": f"{upstream}-tools", "tools": [WEATHER]}
    first = ask(anthropic_sdk, streams, messages=messages, **asked)
    assert first.stop_reason == "tool_use"
    call = first.content[-1]
    assert call.type == "tool_use"
    assert call.name == "get_weather"
    assert isinstance(call.input["city"], str)
    result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "21 degrees"}
    messages += [back(first), {"role": "user", "content": [result]}]
    second = ask(anthropic_sdk, streams, messages=messages, **asked)
    assert second.stop_reason == "end_turn"
    assert text(second) == "From the tool results: get_weather answered: 21 degrees"


@pytest.mark.parametrize("streams", [False, True])
def test_thinking_comes_and_goes_back(
    anthropic_sdk: Anthropic, upstream: str, streams: bool
) -> None:
    asked: dict[str, Any] = {
        "model": f"{upstream}-reasoning",
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
    }
    first = ask(anthropic_sdk, streams, messages=HELLO, **asked)
    thought = first.content[0]
    assert thought.type == "thinking"
    assert thought.thinking.startswith("The question is: Hello, gateway.")
    assert thought.signature
    assert text(first) == "Answered after thinking at effort low: Hello, gateway."
    again: list[MessageParam] = [*HELLO, back(first), {"role": "user", "content": "Sure?"}]
    second = ask(anthropic_sdk, streams, messages=again, **asked)
    assert text(second) == "Answered after thinking at effort low: Sure?"


def test_structured_output(anthropic_sdk: Anthropic, upstream: str) -> None:
    answer = anthropic_sdk.messages.parse(
        model=f"{upstream}-json", max_tokens=500, messages=HELLO, output_format=City
    )
    assert isinstance(answer.parsed_output, City)


def test_cached_input_is_counted(anthropic_sdk: Anthropic, upstream: str) -> None:
    usage = ask(anthropic_sdk, False, model=f"{upstream}-usage", messages=HELLO).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (200, 800)
    assert usage.output_tokens == 50


def test_a_refusal(anthropic_sdk: Anthropic, upstream: str) -> None:
    answer = ask(anthropic_sdk, False, model=f"{upstream}-refusal", messages=HELLO)
    assert answer.stop_reason == "refusal"


def test_tokens_are_counted(anthropic_sdk: Anthropic, upstream: str) -> None:
    count = anthropic_sdk.messages.count_tokens(
        model=f"{upstream}-echo", messages=[{"role": "user", "content": "word " * 2000}]
    )
    assert 1000 < count.input_tokens < 6000


@pytest.mark.parametrize(
    ("model", "caught"),
    [("rate-limit", anthropic.RateLimitError), ("error", anthropic.APIStatusError)],
)
def test_errors(
    anthropic_sdk: Anthropic, upstream: str, model: str, caught: type[Exception]
) -> None:
    with pytest.raises(caught):
        ask(anthropic_sdk, False, model=f"{upstream}-{model}", messages=HELLO)


def test_a_cut_stream_raises(anthropic_sdk: Anthropic, upstream: str) -> None:
    with pytest.raises(anthropic.APIError):
        ask(anthropic_sdk, True, model=f"{upstream}-cut", messages=HELLO)

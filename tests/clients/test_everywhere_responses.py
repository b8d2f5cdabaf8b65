"""OpenAI's Python SDK on Responses, against upstreams of every format."""

import json
from typing import Any, cast

import openai
import pytest
from openai import OpenAI
from openai.types.responses import FunctionToolParam, Response
from pydantic import BaseModel

HELLO: list[Any] = [{"role": "user", "content": "Hello, gateway."}]
WEATHER: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": False,
}


class City(BaseModel):
    name: str
    population: int


def ask(sdk: OpenAI, streams: bool, **asked: Any) -> Response:
    """A whole answer, or a stream put together by the SDK's own helper."""
    if not streams:
        plain: Response = sdk.responses.create(store=False, **asked)
        return plain
    with sdk.responses.stream(store=False, **asked) as stream:
        return cast("Response", stream.get_final_response())


def back(answer: Response) -> list[Any]:
    """The answer as a caller sends it back: all of it."""
    items = [item.to_dict(exclude_none=True) for item in answer.output]
    for item in items:
        item.pop("parsed_arguments", None)
    return items


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    answer = ask(openai_sdk, streams, model=f"{upstream}-echo", input="Hello, gateway.")
    assert answer.output_text == "Hello, gateway."
    assert answer.status == "completed"
    assert answer.model == f"{upstream}-echo"
    assert answer.usage is not None
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens == 2


@pytest.mark.parametrize("streams", [False, True])
def test_tools_there_and_back(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    items: list[Any] = [{"role": "user", "content": "Weather in Paris?"}]
    asked: dict[str, Any] = {"model": f"{upstream}-tools", "tools": [WEATHER]}
    first = ask(openai_sdk, streams, input=items, **asked)
    call = first.output[-1]
    assert call.type == "function_call"
    assert call.name == "get_weather"
    assert isinstance(json.loads(call.arguments)["city"], str)
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"}
    second = ask(openai_sdk, streams, input=[*items, *back(first), output], **asked)
    assert second.output_text == "From the tool results: get_weather answered: 21 degrees"


@pytest.mark.parametrize("upstream", ["chat", "messages", "gemini"])
@pytest.mark.parametrize("streams", [False, True])
def test_a_tool_in_a_namespace_there_and_back(
    openai_sdk: OpenAI, upstream: str, streams: bool
) -> None:
    space = {"type": "namespace", "name": "meteo", "description": "Weather.", "tools": [WEATHER]}
    asked: dict[str, Any] = {"model": f"{upstream}-tools", "tools": [space]}
    first = ask(openai_sdk, streams, input=HELLO, **asked)
    (call,) = [item for item in first.output if item.type == "function_call"]
    assert (call.name, call.namespace) == ("get_weather", "meteo")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
    second = ask(openai_sdk, streams, input=[*HELLO, *back(first), result], **asked)
    assert second.output_text == "From the tool results: meteo__get_weather answered: sunny"


@pytest.mark.parametrize("streams", [False, True])
def test_thinking_comes_and_goes_back(openai_sdk: OpenAI, upstream: str, streams: bool) -> None:
    asked: dict[str, Any] = {
        "model": f"{upstream}-reasoning",
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }
    first = ask(openai_sdk, streams, input=HELLO, **asked)
    thought = first.output[0]
    assert thought.type == "reasoning"
    assert "The question is: Hello, gateway." in json.dumps(thought.to_dict())
    assert first.output_text == "Answered after thinking at effort low: Hello, gateway."
    assert first.usage is not None
    assert first.usage.output_tokens_details.reasoning_tokens == 20
    again = [*HELLO, *back(first), {"role": "user", "content": "Sure?"}]
    second = ask(openai_sdk, streams, input=again, **asked)
    assert second.output_text == "Answered after thinking at effort low: Sure?"


def test_structured_output(openai_sdk: OpenAI, upstream: str) -> None:
    answer = openai_sdk.responses.parse(
        model=f"{upstream}-json", input=HELLO, text_format=City, store=False
    )
    assert isinstance(answer.output_parsed, City)


def test_cached_input_is_counted(openai_sdk: OpenAI, upstream: str) -> None:
    usage = ask(openai_sdk, False, model=f"{upstream}-usage", input=HELLO).usage
    assert usage is not None
    assert (usage.input_tokens, usage.input_tokens_details.cached_tokens) == (1000, 800)
    assert usage.output_tokens == 50


def test_a_refusal(openai_sdk: OpenAI, upstream: str) -> None:
    answer = ask(openai_sdk, False, model=f"{upstream}-refusal", input=HELLO)
    assert not answer.output_text


@pytest.mark.parametrize(
    ("model", "caught"),
    [("rate-limit", openai.RateLimitError), ("error", openai.InternalServerError)],
)
def test_errors(openai_sdk: OpenAI, upstream: str, model: str, caught: type[Exception]) -> None:
    with pytest.raises(caught):
        ask(openai_sdk, False, model=f"{upstream}-{model}", input=HELLO)


def test_a_cut_stream_fails(openai_sdk: OpenAI, upstream: str) -> None:
    events = openai_sdk.responses.create(
        model=f"{upstream}-cut", input=HELLO, stream=True, store=False
    )
    kinds = [event.type for event in events]
    assert kinds[-1] == "response.failed"

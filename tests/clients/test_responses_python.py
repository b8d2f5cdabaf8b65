"""The official Python SDK on the Responses endpoint of a running gateway."""

from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
from pydantic import BaseModel

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
    "strict": True,
}


class City(BaseModel):
    name: str
    population: int


def test_a_plain_answer(client: OpenAI) -> None:
    answer = client.responses.create(
        model="sandbox/echo", input="Hello, gateway.", metadata={"a": "b"}
    )
    assert answer.output_text == "Hello, gateway."
    assert answer.status == "completed"
    assert answer.id.startswith("resp_")
    assert answer.model == "sandbox/echo"
    assert answer.metadata == {"a": "b"}
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def test_a_stream_says_what_the_plain_answer_says(client: OpenAI) -> None:
    stream = client.responses.create(model="sandbox/echo", input="Hello, gateway.", stream=True)
    events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    said = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(said) == "Hello, gateway."
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == "Hello, gateway."


@pytest.mark.parametrize("model", ["sandbox/echo", "sandbox/reasoning", "sandbox/tools"])
def test_the_sdks_own_stream_helper_follows(client: OpenAI, model: str) -> None:
    with client.responses.stream(model=model, input="Hi", tools=[WEATHER]) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    plain = client.responses.create(model=model, input="Hi", tools=[WEATHER])
    assert [item.type for item in final.output] == [item.type for item in plain.output]
    assert final.output_text == plain.output_text


def test_thinking_comes_before_the_answer(client: OpenAI) -> None:
    answer = client.responses.create(
        model="sandbox/reasoning", input="How many?", reasoning={"effort": "high"}
    )
    thought, said = answer.output
    assert thought.type == "reasoning"
    assert thought.summary[0].text
    assert said.type == "message"


def test_a_tool_is_called_and_its_result_read(client: OpenAI) -> None:
    history: list[Any] = [{"role": "user", "content": "Weather in Paris?"}]
    answer = client.responses.create(model="sandbox/tools", input=history, tools=[WEATHER])
    (call,) = [item for item in answer.output if isinstance(item, ResponseFunctionToolCall)]
    assert call.name == "get_weather"
    history += [item.to_dict() for item in answer.output]
    history.append({"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"})
    final = client.responses.create(model="sandbox/tools", input=history, tools=[WEATHER])
    assert final.output_text


def test_a_parsed_answer_is_the_object_asked_for(client: OpenAI) -> None:
    answer = client.responses.parse(model="sandbox/json", input="A city", text_format=City)
    assert isinstance(answer.output_parsed, City)


def test_what_needs_memory_is_a_bad_request(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="sandbox/echo", input="Hi", previous_response_id="resp_1")
    assert caught.value.param == "previous_response_id"


def test_an_answer_cut_in_the_middle_ends_as_failed(client: OpenAI) -> None:
    stream = client.responses.create(model="sandbox/cut?after=5", input="Hi", stream=True)
    last = list(stream)[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.message

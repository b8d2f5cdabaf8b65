"""Anthropic's official Python SDK against a running gateway: what its users do, what they catch."""

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import MessageParam, ToolParam

from tests.app.conftest import Start, start, upstream
from tests.app.test_messages import CLAUDE, config, raw_stream
from tests.formats.anthropic import made
from tests.served import Served
from zurelay.testing.upstream import ScriptedUpstream

__all__ = ["start", "upstream"]  # fixtures of a gateway in this process

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


@pytest.fixture
def claude(served: Served) -> Iterator[Anthropic]:
    """The SDK as a user makes it, without second tries."""
    with Anthropic(
        base_url=served.origin, api_key=served.key, max_retries=0, timeout=20
    ) as made_client:
        yield made_client


def test_a_plain_answer(claude: Anthropic) -> None:
    answer = claude.messages.create(model="sandbox/echo", max_tokens=100, messages=HELLO)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "Hello, gateway."
    assert answer.stop_reason == "end_turn"
    assert answer.id.startswith("msg_")
    assert answer.model == "sandbox/echo"
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0
    assert answer._request_id is not None
    assert answer._request_id.startswith("req_")


def test_a_stream_says_what_the_plain_answer_says(claude: Anthropic) -> None:
    with claude.messages.stream(model="sandbox/echo", max_tokens=100, messages=HELLO) as stream:
        texts = list(stream.text_stream)
        final = stream.get_final_message()
    assert "".join(texts) == "Hello, gateway."
    assert final.stop_reason == "end_turn"
    assert final.usage.input_tokens > 0


def test_raw_events_come_in_their_order(claude: Anthropic) -> None:
    stream = claude.messages.create(
        model="sandbox/echo", max_tokens=100, messages=HELLO, stream=True
    )
    kinds = [event.type for event in stream]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_usage_is_what_was_used(claude: Anthropic) -> None:
    model = "sandbox/usage?prompt=1000&cached=800&cache_write=50&completion=50"
    with claude.messages.stream(model=model, max_tokens=100, messages=HELLO) as stream:
        usage = stream.get_final_message().usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (150, 800)
    assert (usage.cache_creation_input_tokens, usage.output_tokens) == (50, 50)


@pytest.mark.parametrize("streams", [True, False])
def test_tools_there_and_back(claude: Anthropic, streams: bool) -> None:
    asked: dict[str, Any] = {"model": "sandbox/tools", "max_tokens": 500, "tools": [WEATHER]}
    messages: list[MessageParam] = [{"role": "user", "content": "Weather in Paris?"}]

    def ask() -> anthropic.types.Message:
        if streams:
            with claude.messages.stream(messages=messages, **asked) as stream:
                return stream.get_final_message()
        plain: anthropic.types.Message = claude.messages.create(messages=messages, **asked)
        return plain

    answer = ask()
    assert answer.stop_reason == "tool_use"
    call = answer.content[-1]
    assert call.type == "tool_use"
    assert call.name == "get_weather"
    assert isinstance(call.input["city"], str)
    messages.append({"role": "assistant", "content": answer.content})
    result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny, 21 degrees"}
    messages.append({"role": "user", "content": [result]})
    last = ask()
    assert last.stop_reason == "end_turn"
    assert last.content[0].type == "text"
    assert "21 degrees" in last.content[0].text


def test_thinking_comes_as_a_block_and_goes_back(claude: Anthropic) -> None:
    question: MessageParam = {"role": "user", "content": "How many primes are below 20?"}
    asked: dict[str, Any] = {
        "model": "sandbox/reasoning",
        "max_tokens": 5000,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low"},
    }
    with claude.messages.stream(messages=[question], **asked) as stream:
        answer = stream.get_final_message()
    assert [block.type for block in answer.content] == ["thinking", "text"]
    thought = answer.content[0]
    assert thought.type == "thinking"
    assert thought.thinking
    assert thought.signature
    again = claude.messages.create(
        messages=[
            question,
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": "Sure?"},
        ],
        **asked,
    )
    assert again.stop_reason == "end_turn"


def test_thinking_switched_off(claude: Anthropic) -> None:
    answer = claude.messages.create(
        model="sandbox/reasoning",
        max_tokens=500,
        messages=HELLO,
        thinking={"type": "disabled"},
    )
    assert {block.type for block in answer.content} == {"text"}


def test_a_refusal(claude: Anthropic) -> None:
    answer = claude.messages.create(model="sandbox/refusal", max_tokens=100, messages=HELLO)
    assert answer.stop_reason == "refusal"


def test_the_limit_holds(claude: Anthropic) -> None:
    answer = claude.messages.create(
        model="sandbox/lorem?tokens=50&tps=1000", max_tokens=5, messages=HELLO
    )
    assert answer.stop_reason == "max_tokens"


def test_a_stop_sequence_is_named(claude: Anthropic) -> None:
    say: list[MessageParam] = [{"role": "user", "content": "one two three"}]
    answer = claude.messages.create(
        model="sandbox/echo", max_tokens=100, messages=say, stop_sequences=["two"]
    )
    assert answer.content[0].type == "text"
    assert answer.content[0].text.strip() == "one"


def test_tokens_are_counted(claude: Anthropic) -> None:
    count = claude.messages.count_tokens(
        model="sandbox/echo", messages=[{"role": "user", "content": "word " * 2000}]
    )
    assert 1000 < count.input_tokens < 6000


def test_models_are_listed(claude: Anthropic) -> None:
    assert "sandbox/echo" in [model.id for model in claude.models.list()]
    assert claude.models.retrieve("sandbox/echo").id == "sandbox/echo"


@pytest.mark.parametrize(
    ("model", "caught"),
    [
        ("sandbox/ecko", anthropic.NotFoundError),
        ("sandbox/rate-limit?retry_after=30", anthropic.RateLimitError),
        ("sandbox/error?status=503", anthropic.OverloadedError),
        ("sandbox/error?status=500", anthropic.InternalServerError),
    ],
)
def test_errors_are_the_sdks_own(claude: Anthropic, model: str, caught: type[Exception]) -> None:
    with pytest.raises(caught) as raised:
        claude.messages.create(model=model, max_tokens=10, messages=HELLO)
    assert isinstance(raised.value, anthropic.APIStatusError)
    assert raised.value.request_id is not None


def test_a_wrong_key(served: Served) -> None:
    with (
        Anthropic(base_url=served.origin, api_key="zk-wrong", max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(model="sandbox/echo", max_tokens=10, messages=HELLO)


def test_a_stream_that_is_cut_raises(claude: Anthropic) -> None:
    with (
        pytest.raises(anthropic.APIStatusError),
        claude.messages.stream(
            model="sandbox/cut?after=5", max_tokens=100, messages=HELLO
        ) as stream,
    ):
        list(stream.text_stream)


async def test_a_stream_of_claude_itself(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(config(upstream, upstream))
    upstream.enqueue(raw_stream(made.RICH))
    async with (
        AsyncAnthropic(
            base_url=caller.gateway.base_url, api_key=caller.gateway.key, max_retries=0
        ) as client,
        client.messages.stream(model=CLAUDE, max_tokens=100, messages=HELLO) as stream,
    ):
        final = await stream.get_final_message()
    assert [block.type for block in final.content] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert final.model == CLAUDE
    assert final.usage.cache_read_input_tokens == 2455
    assert upstream.requests[0].headers["anthropic-version"] in ("2023-06-01", "2026-10-21")

"""The sandbox server by itself: the official SDKs take its answers for their providers' own."""

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

from tests.clients import test_everywhere_chat as chat
from tests.clients import test_everywhere_messages as messages
from tests.clients import test_everywhere_responses as responses

PARAMETERS = "prompt=1000&cached=800&completion=50&reasoning=20"
MODELS = ("echo", "json", "reasoning", "refusal", "tools", f"usage?{PARAMETERS}")


@pytest.fixture
def by_openai(sandbox_origin: str) -> Iterator[OpenAI]:
    """Its answers are checked against the SDK's types."""
    with OpenAI(
        base_url=f"{sandbox_origin}/v1",
        api_key="any",
        max_retries=0,
        _strict_response_validation=True,
    ) as made:
        yield made


@pytest.fixture
def by_anthropic(sandbox_origin: str) -> Iterator[Anthropic]:
    """Its answers are checked against the SDK's types."""
    with Anthropic(
        base_url=sandbox_origin, api_key="any", max_retries=0, _strict_response_validation=True
    ) as made:
        yield made


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_chat_completions(by_openai: OpenAI, model: str, streams: bool) -> None:
    answer = chat.ask(by_openai, streams, model=model, messages=chat.HELLO, tools=[chat.WEATHER])
    reason = "tool_calls" if model == "tools" else "stop"
    assert answer.choices[0].finish_reason == reason


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_messages(by_anthropic: Anthropic, model: str, streams: bool) -> None:
    answer = messages.ask(
        by_anthropic, streams, model=model, messages=messages.HELLO, tools=[messages.WEATHER]
    )
    reason = {"tools": "tool_use", "refusal": "refusal"}.get(model, "end_turn")
    assert answer.stop_reason == reason


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_responses(by_openai: OpenAI, model: str, streams: bool) -> None:
    answer = responses.ask(
        by_openai, streams, model=model, input=responses.HELLO, tools=[responses.WEATHER]
    )
    assert answer.status == "completed"
    assert answer.output[-1].type == ("function_call" if model == "tools" else "message")


def test_counts(by_openai: OpenAI, by_anthropic: Anthropic) -> None:
    model = f"usage?{PARAMETERS}"
    counted = by_anthropic.messages.count_tokens(model=model, messages=messages.HELLO)
    assert counted.input_tokens == 1000
    assert by_openai.responses.input_tokens.count(model=model, input="x").input_tokens == 1000


def test_lists_of_models(by_openai: OpenAI, by_anthropic: Anthropic) -> None:
    expected = "sandbox/echo"
    assert expected in [model.id for model in by_openai.models.list()]
    assert expected in [model.id for model in by_anthropic.models.list()]


@pytest.mark.parametrize(
    ("model", "of_openai", "of_anthropic"),
    [
        ("ecko", openai.NotFoundError, anthropic.NotFoundError),
        ("rate-limit", openai.RateLimitError, anthropic.RateLimitError),
        ("error?status=401", openai.AuthenticationError, anthropic.AuthenticationError),
        ("error?status=529", openai.InternalServerError, anthropic.OverloadedError),
        ("cut?after=0", openai.APIConnectionError, anthropic.APIConnectionError),
    ],
)
def test_errors(
    by_openai: OpenAI, by_anthropic: Anthropic, model: str, of_openai: Any, of_anthropic: Any
) -> None:
    with pytest.raises(of_openai):
        chat.ask(by_openai, False, model=model, messages=chat.HELLO)
    with pytest.raises(of_openai):
        responses.ask(by_openai, False, model=model, input=responses.HELLO)
    with pytest.raises(of_anthropic):
        messages.ask(by_anthropic, False, model=model, messages=messages.HELLO)

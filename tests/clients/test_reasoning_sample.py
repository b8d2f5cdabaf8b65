"""Reasoning as users of the official SDK write it: a word in, the thinking out."""

from typing import Any, cast

import pytest
from openai import BadRequestError, OpenAI
from openai.types.chat import ChatCompletionMessageParam

from zurelay.chat.effort import SCALE

MODEL = "sandbox/reasoning"
PRIMES: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "How many primes are there below 1,000?"}
]


def test_the_sample_reads_thinking_and_answer(client: OpenAI) -> None:
    response = client.chat.completions.create(model=MODEL, reasoning_effort="high", messages=PRIMES)
    message = response.choices[0].message
    assert getattr(message, "reasoning_content", None)
    assert message.content
    usage = response.usage
    assert usage is not None
    assert usage.completion_tokens_details is not None
    assert 0 < (usage.completion_tokens_details.reasoning_tokens or 0) < usage.completion_tokens


def test_the_sample_streams_thinking_and_answer(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model=MODEL, reasoning_effort="high", messages=PRIMES, stream=True
    )
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    thoughts = [getattr(delta, "reasoning_content", None) for delta in deltas]
    assert "".join(thought or "" for thought in thoughts)
    assert "" not in [thought for thought in thoughts if thought is not None]
    assert "".join(delta.content or "" for delta in deltas)


@pytest.mark.parametrize("word", SCALE)
def test_every_word_of_the_scale_is_taken_and_told(client: OpenAI, word: str) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL, reasoning_effort=cast("Any", word), messages=PRIMES
    )
    assert raw.headers["x-zurelay-reasoning-effort"] == word
    thinking = getattr(raw.parse().choices[0].message, "reasoning_content", None)
    assert bool(thinking) == (word != "none")


def test_the_answer_goes_back_as_it_came(client: OpenAI) -> None:
    first = client.chat.completions.create(model=MODEL, reasoning_effort="low", messages=PRIMES)
    came = cast("ChatCompletionMessageParam", first.choices[0].message.model_dump())
    history: list[ChatCompletionMessageParam] = [
        *PRIMES,
        came,
        {"role": "user", "content": "And below 2,000?"},
    ]
    second = client.chat.completions.create(model=MODEL, reasoning_effort="low", messages=history)
    assert second.choices[0].message.content


def test_a_word_that_is_no_level_is_a_bad_request_that_lists_the_levels(client: OpenAI) -> None:
    with pytest.raises(BadRequestError) as caught:
        client.chat.completions.create(
            model=MODEL, reasoning_effort=cast("Any", "hard"), messages=PRIMES
        )
    assert caught.value.param == "reasoning_effort"
    assert ", ".join(SCALE) in caught.value.message

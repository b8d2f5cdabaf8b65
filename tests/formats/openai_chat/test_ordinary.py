"""The short way gives what the long way gives, and leaves to it whatever is out of the ordinary."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_chat import ordinary
from zurelay.formats.openai_chat.reply import long_way

CONTEXT = AnswerContext("chatcmpl-1", 1, "public", False, 10, Profile())


def answer(**changes: Any) -> dict[str, Any]:
    return {
        "id": "up",
        "object": "chat.completion",
        "created": 5,
        "model": "upstream",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        "service_tier": "default",
        "big": 123456789012345678901234567890,
        **changes,
    }


def choice(**changes: Any) -> list[dict[str, Any]]:
    return [{**answer()["choices"][0], **changes}]


def message(**changes: Any) -> list[dict[str, Any]]:
    return choice(message={"role": "assistant", "content": "Hello", **changes})


def usage(**changes: Any) -> dict[str, Any]:
    return {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, **changes}


LONG: dict[str, dict[str, Any]] = {
    "no usage": {"usage": None},
    "a tool call": {"choices": message(tool_calls=[])},
    "reasoning": {"choices": message(reasoning="hm")},
    "a refusal": {"choices": message(refusal="no")},
    "no text": {"choices": message(content="")},
    "parts": {"choices": message(content=[{"type": "text", "text": "x"}])},
    "another finish": {"choices": choice(finish_reason="eos")},
    "two choices": {"choices": choice() + choice(index=1)},
    "an error": {"error": {"message": "x"}},
    "usage in the choice": {"choices": choice(usage={})},
    "a total that does not add up": {"usage": usage(total_tokens=9)},
    "another host's count": {"usage": usage(prompt_cache_hit_tokens=3)},
    "more cached than read": {
        "usage": usage(prompt_tokens_details={"cached_tokens": 6}),
    },
    "audio": {"usage": usage(prompt_tokens_details={"audio_tokens": 2})},
    "images": {"usage": usage(prompt_tokens_details={"image_tokens": 2})},
    "a tier that is no word": {"service_tier": 5},
    "a count below zero": {"usage": usage(prompt_tokens=-1, total_tokens=1)},
}


@pytest.mark.parametrize("name", LONG)
def test_whatever_is_out_of_the_ordinary_takes_the_long_way(name: str) -> None:
    assert ordinary.whole(json.dumps(answer(**LONG[name])).encode(), CONTEXT) is None


@pytest.mark.parametrize(
    "context",
    [
        AnswerContext("c", 1, "m", False, 1, Profile(), stop=("x",)),
        AnswerContext("c", 1, "m", False, 1, Profile(), choices=2),
        AnswerContext("c", 1, "m", False, 1, Profile(think_tags=True)),
    ],
)
def test_answers_that_must_be_looked_into_take_the_long_way(context: AnswerContext) -> None:
    assert ordinary.whole(json.dumps(answer()).encode(), context) is None


counts = st.integers(0, 10**6)


@given(
    st.text(min_size=1),
    st.sampled_from(["stop", "length", "content_filter"]),
    counts,
    counts,
    st.none() | st.fixed_dictionaries({"cached_tokens": counts}),
    st.none() | st.fixed_dictionaries({"reasoning_tokens": counts}),
    st.booleans(),
    st.none() | st.sampled_from(["default", "flex", "priority", "scale"]),
)
def test_both_ways_give_the_same(
    text: str,
    finish: str,
    prompt: int,
    completion: int,
    prompt_details: dict[str, int] | None,
    completion_details: dict[str, int] | None,
    annotated: bool,
    tier: str | None,
) -> None:
    extra: dict[str, Any] = {"annotations": []} if annotated else {}
    body = json.dumps(
        answer(
            choices=[{**message(content=text, **extra)[0], "finish_reason": finish}],
            usage={
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": prompt_details,
                "completion_tokens_details": completion_details,
            },
            service_tier=tier,
        )
    ).encode()
    short, long = ordinary.whole(body, CONTEXT), long_way(body, CONTEXT)
    lies = (prompt_details or {}).get("cached_tokens", 0) > prompt
    lies |= (completion_details or {}).get("reasoning_tokens", 0) > completion
    assert (short is None) == lies
    if short is None:
        return
    assert json.loads(short.body) == json.loads(long.body)
    assert (short.usage, short.finish_reason) == (long.usage, long.finish_reason)
    assert short.delivered_length == long.delivered_length


def test_an_ordinary_answer_keeps_numbers_as_they_were_written() -> None:
    short = ordinary.whole(json.dumps(answer()).encode(), CONTEXT)
    assert short is not None
    assert b"123456789012345678901234567890" in short.body
    assert b"upstream" not in short.body

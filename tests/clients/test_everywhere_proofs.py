"""Signatures of thinking travel through callers and back: a forged one is refused upstream.

The sandbox checks signatures as providers do. An answer sent back as it came is taken (the other
files hold that); so a refusal of a forged one shows that signatures arrive at all.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

from tests.clients import test_everywhere_chat as chat
from tests.clients import test_everywhere_messages as messages
from tests.clients import test_everywhere_responses as responses

GENUINE = base64.b64encode(b"sandbox-proof:").decode()[:16]
FORGED = base64.b64encode(b"somebody else's proof").decode()
WRAPPED = "gw1."

CASES = (
    ("messages", "reasoning"),
    ("responses", "reasoning"),
    ("gemini", "reasoning"),
    ("gemini", "tools"),
)


def forged(value: Any) -> Any:
    """`value` with another signature in place of each of the sandbox's, wrapped ones too."""
    if isinstance(value, dict):
        return {name: forged(item) for name, item in value.items()}
    if isinstance(value, list):
        return [forged(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith(WRAPPED):
        raw = value.removeprefix(WRAPPED)
        inner = json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
        again = base64.urlsafe_b64encode(json.dumps(forged(inner)).encode()).decode()
        return WRAPPED + again.rstrip("=")
    return FORGED if value.startswith(GENUINE) else value


def sent_twice(ask: Callable[[Any], Any], given: Any, refused: type[Exception]) -> None:
    """As it came it is taken, forged it is not."""
    changed = forged(given)
    assert changed != given, "there is no signature"
    ask(given)
    with pytest.raises(refused):
        ask(changed)


@pytest.mark.parametrize(("upstream", "model"), CASES)
@pytest.mark.parametrize("streams", [False, True])
def test_by_chat_completions(
    openai_sdk: OpenAI, upstream: str, model: str, *, streams: bool
) -> None:
    asked: dict[str, Any] = {"model": f"{upstream}-{model}", "tools": [chat.WEATHER]}
    first = chat.ask(openai_sdk, streams, messages=chat.HELLO, **asked)
    calls = first.choices[0].message.tool_calls or []
    rest: list[Any] = [{"role": "tool", "tool_call_id": call.id, "content": "x"} for call in calls]
    rest = rest or [{"role": "user", "content": "Sure?"}]
    sent_twice(
        lambda said: chat.ask(openai_sdk, streams, messages=[*chat.HELLO, said, *rest], **asked),
        chat.back(first),
        openai.APIStatusError,
    )


@pytest.mark.parametrize(
    ("upstream", "model", "streams"),
    [
        (upstream, model, streams)
        for upstream, model in CASES
        for streams in (False, True)
        if (upstream, model, streams) != ("gemini", "reasoning", True)
    ],
)
def test_by_messages(anthropic_sdk: Anthropic, upstream: str, model: str, *, streams: bool) -> None:
    asked: dict[str, Any] = {"model": f"{upstream}-{model}", "tools": [messages.WEATHER]}
    first = messages.ask(anthropic_sdk, streams, messages=messages.HELLO, **asked)
    content = [block.to_dict() for block in first.content]
    rest: list[Any] = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
        for block in content
        if block["type"] == "tool_use"
    ] or [{"type": "text", "text": "Sure?"}]
    sent_twice(
        lambda said: messages.ask(
            anthropic_sdk,
            streams,
            messages=[
                *messages.HELLO,
                {"role": "assistant", "content": said},
                {"role": "user", "content": rest},
            ],
            **asked,
        ),
        content,
        anthropic.APIStatusError,
    )


@pytest.mark.parametrize("streams", [False, True])
def test_by_messages_no_proof_stands_after_the_text(
    anthropic_sdk: Anthropic, *, streams: bool
) -> None:
    """Its place there is before; a stream that has told the text already leaves it out."""
    asked: dict[str, Any] = {"model": "gemini-reasoning", "messages": messages.HELLO}
    kinds = [block.type for block in messages.ask(anthropic_sdk, streams, **asked).content]
    assert kinds == ["thinking", "text"]


@pytest.mark.parametrize(("upstream", "model"), CASES)
@pytest.mark.parametrize("streams", [False, True])
def test_by_responses(openai_sdk: OpenAI, upstream: str, model: str, *, streams: bool) -> None:
    asked: dict[str, Any] = {"model": f"{upstream}-{model}", "tools": [responses.WEATHER]}
    first = responses.ask(openai_sdk, streams, input=responses.HELLO, **asked)
    items = responses.back(first)
    rest: list[Any] = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "x"}
        for item in items
        if item["type"] == "function_call"
    ] or [{"role": "user", "content": "Sure?"}]
    sent_twice(
        lambda said: responses.ask(
            openai_sdk, streams, input=[*responses.HELLO, *said, *rest], **asked
        ),
        items,
        openai.APIStatusError,
    )

"""Claude on Vertex AI for callers of Chat Completions and of Messages."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.formats.gemini.gemini import context
from zurelay.chat.faults import FaultKind
from zurelay.formats.base import Target
from zurelay.formats.registry import exchange, front
from zurelay.formats.vertex_messages import NAME
from zurelay.providers.google import VERTEX

CLAUDE = VERTEX.profile.but(effort_form="claude_effort")
TARGET = Target("public", "claude-opus-5-5", CLAUDE, effort="low", stream=True)
USER = {"role": "user", "content": "Hi"}
PLAIN = {
    "id": "msg_vrtx_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5-5",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "SIG"},
        {"type": "text", "text": "Hello"},
    ],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 7},
}
EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**PLAIN, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 7},
    },
    {"type": "message_stop"},
]
RAW = b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in EVENTS)


def sent(name: str, body: dict[str, Any]) -> Any:
    inbound = front(name).read(json.dumps(body).encode())
    return json.loads(exchange(name, NAME).write(inbound, TARGET).body)


def test_a_chat_request_becomes_claudes_own() -> None:
    body = sent("openai_chat", {"model": "m", "messages": [USER], "temperature": 0.5})
    assert body["anthropic_version"] == "vertex-2023-10-16"
    assert body["output_config"] == {"effort": "low"}
    assert "model" not in body
    assert "temperature" not in body


def test_a_messages_request_keeps_what_only_that_format_knows() -> None:
    asked = {"model": "m", "max_tokens": 5, "messages": [USER], "stream": True, "future": [1]}
    body = sent("anthropic", asked)
    assert (body["future"], body["messages"]) == ([1], [USER])


def test_answers_are_read_as_anthropics() -> None:
    join = exchange("openai_chat", NAME)
    whole = json.loads(join.whole(json.dumps(PLAIN).encode(), context(profile=CLAUDE)).body)
    message = whole["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Hello", "hm")
    assert message["reasoning_details"][0]["format"] == "anthropic/messages"
    stream, assembler = (
        join.stream(context(profile=CLAUDE)),
        join.assembler(context(profile=CLAUDE)),
    )
    for a, b in pairwise(range(0, len(RAW) + 7, 7)):
        stream.feed(RAW[a:b])
        assembler.feed(RAW[a:b])
    assert (stream.end().fault, assembler.end().fault) == (None, None)
    assert json.loads(assembler.whole().body)["choices"][0]["message"]["content"] == "Hello"
    assert stream.finish_reason == "stop"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (403, [{"error": {"code": 403, "status": "PERMISSION_DENIED"}}], FaultKind.REFUSED_CREDENTIAL),
        (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, FaultKind.RATE_LIMITED),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9"}},
            FaultKind.CONTEXT_OVERFLOW,
        ),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, FaultKind.OVERLOADED),
    ],
)  # fmt: skip
def test_faults_are_read_in_either_vendors_words(status: int, body: Any, kind: FaultKind) -> None:
    raw = json.dumps(body).encode()
    assert exchange("openai_chat", NAME).fault(status, {}, raw, 0.0, CLAUDE).kind is kind

"""How translated answers end: with nothing in them, and with or without the call asked for."""

import json
from typing import Any

import pytest

from tests.formats.openai_chat.streams import context
from zurelay.chat.faults import FaultKind
from zurelay.formats.base import Progress
from zurelay.formats.registry import exchange

CLAUDE = exchange("openai_chat", "anthropic")
USAGE = {"input_tokens": 5, "output_tokens": 1}


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


START = event(
    "message_start",
    message={
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "theirs",
        "content": [],
        "stop_reason": None,
        "usage": USAGE,
    },
)
END = event("message_delta", delta={"stop_reason": "end_turn"}, usage=USAGE) + event("message_stop")


def answer(*content: Any, reason: str = "end_turn") -> bytes:
    body = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "theirs",
        "content": content,
        "stop_reason": reason,
        "usage": USAGE,
    }
    return json.dumps(body).encode()


@pytest.mark.parametrize("plain", [False, True])
def test_an_answer_with_nothing_in_it_is_never_a_finished_one(plain: bool) -> None:
    reader = CLAUDE.assembler(context()) if plain else CLAUDE.stream(context())
    steps: list[Progress] = [reader.feed(START), reader.feed(END), reader.end()]
    faults = [step.fault for step in steps if step.fault]
    assert faults[0].kind is FaultKind.EMPTY
    assert not any(step.finished or step.out for step in steps)


def test_with_stop_sequences_nothing_may_be_the_answer() -> None:
    reader = CLAUDE.stream(context(may_be_empty=True))
    assert reader.feed(START + END).finished


def test_whether_a_tool_was_called_is_told_across_formats() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    assert CLAUDE.whole(answer(call, reason="tool_use"), context()).called
    assert not CLAUDE.whole(answer({"type": "text", "text": "Hi"}), context()).called

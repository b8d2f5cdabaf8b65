"""A plain Responses answer."""

import json

import pytest

from tests.formats.openai_responses.responses import context, message, response
from zurelay.chat.events import Choice, Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.parts import Text, Thinking, ToolCall
from zurelay.chat.usage import Usage
from zurelay.formats.openai_responses.reply import read

REASONING = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "proof",
}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}


def test_thinking_text_calls_and_usage() -> None:
    usage = {
        "input_tokens": 3,
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    body = response([REASONING, message("Hi"), CALL], usage=usage)
    parts = (
        Thinking("Hm."),
        Thinking("", "proof", "openai/responses", redacted=True),
        Text("Hi"),
        ToolCall("c", "f", '{"a":1}'),
    )
    assert read(json.dumps(body).encode(), context()) == Reply(
        (Choice(parts, "tool_calls"),), Usage(input=3, output=4, reasoning=2)
    )


def test_blank_space_before_the_answer_is_a_keep_alive() -> None:
    answer = read(b" \n\n" + json.dumps(response([message("Hi")])).encode(), context())
    assert answer == Reply((Choice((Text("Hi"),), "stop"),))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'"x"', b"{}", b'{"status":"queued"}'])
def test_anything_else_is_a_bad_answer(body: bytes) -> None:
    answer = read(body, context())
    assert isinstance(answer, Fault)
    assert answer.kind is FaultKind.BAD_ANSWER

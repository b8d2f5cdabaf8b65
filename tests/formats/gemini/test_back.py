"""The format is there under its name."""

import pytest

from tests.formats.gemini.gemini import ORIGIN, STUDIO, context, frame, piece
from zurelay.chat.parts import Text, Thinking, ToolCall
from zurelay.chat.request import Request, Turn
from zurelay.formats.base import Target
from zurelay.formats.gemini.back import GeminiBack
from zurelay.formats.registry import BACKS, exchange


def test_it_is_registered() -> None:
    assert any(isinstance(back, GeminiBack) for back in BACKS)
    assert exchange("openai_chat", "gemini") is not None
    with pytest.raises(KeyError):
        exchange("openai_chat", "gemeni")


def test_what_an_answer_proves_goes_back_where_it_came_from() -> None:
    back = GeminiBack()
    body = piece(
        {"text": "I look."},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "SIG"},
        {"functionCall": {"name": "g", "args": {}}},
        finish="STOP",
    )
    reader = back.reader(context())
    events = [*reader.read(frame(body)).events, *reader.close().events]
    assert events
    turn = Turn(
        "assistant",
        (
            Text("I look."),
            Thinking("", "SIG", ORIGIN, redacted=True),
            ToolCall("a", "f", "{}"),
            ToolCall("b", "g", "{}"),
        ),
    )
    out = back.write(Request((turn,)), Target("p", "u", STUDIO))
    assert out.body.count(b"SIG") == 1
    assert b'"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"SIG"' in out.body

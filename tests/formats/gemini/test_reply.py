"""Plain answers."""

import json
from typing import Any

import pytest

from tests.formats.gemini.gemini import context, piece
from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.parts import Text, Thinking
from zurelay.chat.usage import Usage
from zurelay.formats.gemini.reply import read


def test_an_answer_has_its_parts_and_its_count() -> None:
    body = piece(
        {"text": "hm", "thought": True},
        {"text": "Hi"},
        {"text": "!"},
        finish="STOP",
        usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 2},
    )
    found = read(json.dumps(body).encode(), context())
    assert isinstance(found, Reply)
    assert found.choices[0].parts == (Thinking("hm"), Text("Hi!"))
    assert found.usage == Usage(input=5, output=2)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>", FaultKind.BAD_ANSWER),
        (b"3", FaultKind.BAD_ANSWER),
        (b"[3]", FaultKind.BAD_ANSWER),
        (b"{}", FaultKind.EMPTY),
        (b"[]", FaultKind.EMPTY),
        (piece({"text": "Hi"}), FaultKind.BROKE_OFF),
        ({"error": {"code": 503, "status": "UNAVAILABLE"}}, FaultKind.OVERLOADED),
        ([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}], FaultKind.RATE_LIMITED),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, FaultKind.CONTENT_POLICY),
        (piece(finish="OTHER"), FaultKind.MODEL_FAULT),
    ],
)
def test_what_is_no_answer_is_a_fault(body: Any, kind: FaultKind) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = read(raw, context())
    assert isinstance(found, Fault)
    assert found.kind is kind


def test_the_pieces_of_a_stream_in_a_list_are_one_answer() -> None:
    pieces = [piece({"text": "a"}), piece({"text": "b"}, finish="STOP")]
    found = read(json.dumps(pieces).encode(), context())
    assert isinstance(found, Reply)
    assert found.choices[0].parts == (Text("ab"),)

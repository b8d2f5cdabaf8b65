"""Responses on both sides, put together."""

import json

from tests.formats.openai_responses.answered import context, read
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.registry import exchange

SAME = exchange("openai_responses", "openai_responses")


def test_it_edits_and_does_not_translate() -> None:
    out = SAME.write(read(future_field=1), Target("m", "up", Profile()))
    assert json.loads(out.body)["future_field"] == 1


def test_errors_are_read_as_the_format_has_them() -> None:
    body = json.dumps({"error": {"code": "invalid_prompt", "message": "flagged"}}).encode()
    assert SAME.fault(400, {}, body, 0.0, Profile()).kind is FaultKind.CONTENT_POLICY


def test_fields_are_blamed_by_the_names_that_both_sides_use() -> None:
    error = {"message": "too low", "param": "max_output_tokens", "code": "integer_below_min_value"}
    body = json.dumps({"error": error}).encode()
    assert SAME.fault(400, {}, body, 0.0, Profile()).param == "max_output_tokens"
    other = exchange("openai_chat", "openai_responses")
    assert other.fault(400, {}, body, 0.0, Profile()).param == "max_completion_tokens"


def test_streams_are_read_whole_or_as_they_come() -> None:
    data = b'data: {"type":"response.output_text.delta","output_index":0,"delta":"x"}\n\n'
    assert SAME.stream(context()).feed(data).token
    assert SAME.assembler(context()).feed(data).token
    assert SAME.whole(b"{}", context()).fault is not None

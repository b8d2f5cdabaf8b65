"""Answers in AWS's binary stream, read back by AWS's own library."""

import json

from botocore.eventstream import EventStreamBuffer

from zurelay.testing.event_stream import (
    CONTENT_TYPE,
    event_stream_event,
    event_stream_exception,
    event_stream_message,
    event_stream_reply,
)
from zurelay.testing.script import LAST_CHUNK, wire


def read(raw: bytes) -> tuple[dict[str, str], bytes]:
    buffer = EventStreamBuffer()
    buffer.add_data(raw)
    (message,) = list(buffer)
    return message.headers, message.payload


def test_an_event_has_its_name_and_its_content() -> None:
    headers, payload = read(event_stream_event("messageStop", {"stopReason": "end_turn"}))
    assert headers[":event-type"] == "messageStop"
    assert headers[":message-type"] == "event"
    assert json.loads(payload) == {"stopReason": "end_turn"}


def test_an_exception_says_so() -> None:
    headers, payload = read(event_stream_exception("throttlingException", "slow"))
    assert headers[":exception-type"] == "throttlingException"
    assert headers[":message-type"] == "exception"
    assert json.loads(payload) == {"message": "slow"}


def test_any_message_can_be_written() -> None:
    assert read(event_stream_message({"é": "ü" * 300}, b"\x00")) == ({"é": "ü" * 300}, b"\x00")


def test_a_reply_is_a_chunked_stream_of_them() -> None:
    script = event_stream_reply([b"one", b"two"], {"x-more": "1"})
    sent = wire(script)
    assert f"content-type: {CONTENT_TYPE}".encode() in sent
    assert b"x-more: 1" in sent
    assert len(script) == 4
    assert script[-1] == LAST_CHUNK

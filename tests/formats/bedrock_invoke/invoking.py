"""Streams of Messages as InvokeModel wraps them."""

import base64
import json
from typing import Any

from zurelay.testing.event_stream import event_stream_event


def wrapped(event: Any) -> bytes:
    """One event in a message of the binary stream."""
    raw = event if isinstance(event, bytes) else json.dumps(event).encode()
    return event_stream_event("chunk", {"bytes": base64.b64encode(raw).decode(), "p": "abc"})


USAGE = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_bdrk_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": USAGE,
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "SIG"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "there"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 7}},
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 10}},
]  # fmt: skip
STREAM = [wrapped(event) for event in EVENTS]
PLAIN = {
    "id": "msg_bdrk_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5-5",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "SIG"},
        {"type": "text", "text": "Hello there"},
    ],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {**USAGE, "output_tokens": 7},
}

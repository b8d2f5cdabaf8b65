"""Streams of every format that come to the same answer, and how a conversation is looked at."""

import json
from typing import Any

from zurelay.formats.transcript import conversation

FORMATS = ("openai_chat", "anthropic", "openai_responses", "embeddings")
STREAMS: dict[str, list[Any]] = {
    "openai_chat": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "Hm"}}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "m."}}]},
        {"choices": [{"index": 0, "delta": {"content": "It "}}]},
        {"choices": [{"index": 0, "delta": {"content": "rains."}}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "c1",
                                "function": {"name": "go", "arguments": '{"a"'},
                            }
                        ]
                    },
                }
            ]
        },
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
                }
            ]
        },
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hmm."}},
        {"index": 0, "delta": {"type": "signature_delta", "signature": "xyz"}},
        {"index": 1, "content_block": {"type": "text", "text": ""}},
        {"index": 1, "delta": {"type": "text_delta", "text": "It "}},
        {"index": 1, "delta": {"type": "text_delta", "text": "rains."}},
        {"index": 2, "content_block": {"type": "tool_use", "name": "go", "input": {}}},
        {"index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"index": 2, "delta": {"type": "input_json_delta", "partial_json": ":1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "m."},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "message", "role": "assistant", "content": []},
        },
        {"type": "response.output_text.delta", "output_index": 1, "delta": "It "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "rains."},
        {
            "type": "response.output_item.added",
            "output_index": 2,
            "item": {"type": "function_call", "name": "go", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}"},
    ],
}
CALL = '{\n  "a": 1\n}'


def stream(events: list[Any]) -> bytes:
    return b"".join(b"event: x\ndata: %b\n\n" % json.dumps(event).encode() for event in events)


def read(front: str, body: Any, answer: Any = None, *, events: list[Any] | None = None) -> Any:
    sent = b"" if answer is None else json.dumps(answer).encode()
    if events is not None:
        sent = stream(events)
    found = conversation(front, json.dumps(body).encode(), sent, stream=events is not None)
    return [
        (one.role, [(piece.kind, piece.text, piece.name) for piece in one.pieces]) for one in found
    ]

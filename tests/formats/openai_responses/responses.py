"""Answers of the Responses format, as a real upstream would give them."""

import json
from collections.abc import Sequence
from typing import Any

from zurelay.chat.events import Event
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_responses.stream import event_stream
from zurelay.formats.translate import Events

Json = dict[str, Any]


def context(**quirks: Any) -> AnswerContext:
    profile = Profile(realm="openai", **quirks)
    return AnswerContext("chatcmpl-1", 1, "public-model", True, 10, profile)


def event(kind: str, **fields: Any) -> Json:
    return {"type": kind, **fields}


def response(output: Sequence[Json], status: str = "completed", **fields: Any) -> Json:
    return {"id": "resp_1", "object": "response", "status": status, "output": [*output], **fields}


def completed(*output: Json, **fields: Any) -> Json:
    return event("response.completed", response=response(output, **fields))


def message(text: str) -> Json:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def raw(*events: Json | str) -> bytes:
    return b"".join(
        f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n".encode()
        for each in events
    )


def read(*events: Json | str) -> tuple[list[Event], Events]:
    """All neutral events of a stream, and its last batch."""
    reader = event_stream(context())
    first = reader.read(raw(*events))
    if first.fault is not None:
        return first.events, first
    last = reader.close()
    return first.events + last.events, last

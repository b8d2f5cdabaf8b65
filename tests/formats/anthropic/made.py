"""Requests, targets and event streams for the tests of this format."""

import json
from typing import Any

from zurelay.catalogue.load import standard
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext, Inbound, Outbound, Target
from zurelay.formats.registry import exchange, front
from zurelay.providers.anthropic import ANTHROPIC

ORIGIN = "anthropic/messages"
Json = dict[str, Any]


def target(model: str = "claude-opus-5-5", **changes: Any) -> Target:
    """What an attempt at Anthropic itself writes for."""
    entry = standard().by_id[model]
    quirks = changes.pop("quirks", {})
    profile = entry.profile(ANTHROPIC.profile).but(**quirks)
    return Target(model, f"up-{model}", profile, max_output=entry.max_output, **changes)


def chat(**fields: Any) -> Inbound:
    """A Chat Completions request."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **fields}
    return front("openai_chat").read(json.dumps(body).encode())


def written(*, to: Target | None = None, **fields: Any) -> tuple[Json, Outbound]:
    """The body that a Chat Completions request becomes, and the rest of what goes upstream."""
    out = exchange("openai_chat", "anthropic").write(chat(**fields), to or target())
    return json.loads(out.body), out


def context(**changes: Any) -> AnswerContext:
    made: Json = {
        "answer_id": "msg_1",
        "created": 1_700_000_000,
        "model": "public-model",
        "include_usage": True,
        "prompt_estimate": 10,
        "profile": Profile(realm="anthropic"),
    }
    return AnswerContext(**(made | changes))


def event(kind: str, **fields: Any) -> bytes:
    """One event as Anthropic sends it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**usage: int) -> bytes:
    message: Json = {
        "id": "msg_up",
        "type": "message",
        "role": "assistant",
        "model": "upstream-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 7, "output_tokens": 1},
    }
    return event("message_start", message=message)


def block(index: int, opened: Json, *deltas: Json) -> bytes:
    """A whole content block."""
    out = event("content_block_start", index=index, content_block=opened)
    for delta in deltas:
        out += event("content_block_delta", index=index, delta=delta)
    return out + event("content_block_stop", index=index)


def text(index: int, *pieces: str) -> bytes:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def thinking(index: int, *pieces: str, signature: str = "SIG") -> bytes:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = {"type": "signature_delta", "signature": signature}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def call(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    opened = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, opened, *deltas)


def stop(reason: str = "end_turn", usage: Json | None = None, **delta: Any) -> bytes:
    told = {"stop_reason": reason, "stop_sequence": None, **delta}
    return event("message_delta", delta=told, usage=usage or {"output_tokens": 5}) + event(
        "message_stop"
    )


RICH = (
    start(
        input_tokens=4, cache_read_input_tokens=2455, cache_creation_input_tokens=0, output_tokens=1
    )
    + event("ping")
    + thinking(0, "let me ", "see")
    + text(1, "北京", " 😀é")
    + call(2, "toolu_1", "f", "", '{"x"', ": 1}")
    + call(3, "toolu_2", "g")
    + stop("tool_use", {"output_tokens": 23})
)
"""A stream with everything: thinking, text, a call, a call without arguments."""


def events(stream: bytes) -> list[tuple[str, Json]]:
    """A stream of this format, parsed; every frame must have its event line."""
    found = []
    for raw in stream.decode().split("\n\n")[:-1]:
        if raw.startswith(":"):
            continue
        first, second = raw.split("\n")
        data = json.loads(second.removeprefix("data: "))
        assert first == f"event: {data['type']}"
        found.append((data["type"], data))
    return found

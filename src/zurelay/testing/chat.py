"""Answers of OpenAI's Chat Completions, as a real upstream would give them.

Pure builders of JSON values. Does not know scripts or sockets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_CREATED = 1_700_000_000


def chat_usage(prompt: int = 9, completion: int = 3) -> dict[str, int]:
    """A `usage` object, in tokens."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def chat_reply(
    text: str | None = "Hello",
    *,
    model: str = "scripted",
    finish_reason: str = "stop",
    usage: Mapping[str, Any] | None = None,
    tool_calls: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A `chat.completion`; without `usage` it has `chat_usage()`."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool_calls:
        message["tool_calls"] = list(tool_calls)
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": _CREATED,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": dict(usage) if usage is not None else chat_usage(),
    }


def chat_chunk(
    delta: Mapping[str, Any], *, model: str = "scripted", finish_reason: str | None = None
) -> dict[str, Any]:
    """One `chat.completion.chunk`."""
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": _CREATED,
        "model": model,
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish_reason}],
    }


def chat_chunks(
    text: str | Sequence[str] = "Hello",
    *,
    model: str = "scripted",
    finish_reason: str = "stop",
    usage: Mapping[str, Any] | None = None,
) -> list[dict[str, Any] | str]:
    """The events of a stream: a role chunk, one chunk for each piece, the finish, `[DONE]`.

    Args:
        text: a string is cut before each space; a sequence is taken as it is.
        model: as the chunks name it.
        finish_reason: of the last chunk with a choice.
        usage: a chunk without choices carries it before `[DONE]`; None leaves it out.
    """
    pieces = _words(text) if isinstance(text, str) else text
    events: list[dict[str, Any] | str] = [
        chat_chunk({"role": "assistant", "content": ""}, model=model)
    ]
    events += [chat_chunk({"content": piece}, model=model) for piece in pieces]
    events.append(chat_chunk({}, model=model, finish_reason=finish_reason))
    if usage is not None:
        events.append({**chat_chunk({}, model=model), "choices": [], "usage": dict(usage)})
    return [*events, "[DONE]"]


def _words(text: str) -> list[str]:
    first, *rest = text.split(" ")
    return [first, *(" " + word for word in rest)] if text else []

"""Chunks and answers as callers get them: our id, our model, our count."""

from collections.abc import Mapping
from typing import Any

from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_chat import usage as counts
from zurelay.wire import json

OURS = frozenset({"id", "object", "created", "model", "usage"})
"""Top-level fields of an answer that the gateway writes itself."""

PRIVATE = frozenset(
    {
        "provider",  # OpenRouter
        "x_groq",
        "prompt_filter_results",  # Azure
        "timings",  # llama.cpp
        "nvext",
        "error",
        "cost",
        "estimated_cost",
        "citation_tokens",
        "num_search_queries",
    }
)
"""Fields by which providers talk about themselves; they may name accounts, prices or models."""

_NOT_KEPT = OURS | PRIVATE

DONE = b"data: [DONE]\n\n"


def kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The upstream's own fields that go on to the caller."""
    return {name: value for name, value in fields.items() if name not in _NOT_KEPT}


class ChunkWriter:
    """Writes the chunks of one answer."""

    __slots__ = ("head",)

    def __init__(self, context: AnswerContext) -> None:
        self.head = json.encode(
            {
                "id": context.answer_id,
                "object": "chat.completion.chunk",
                "created": context.created,
                "model": context.model,
            }
        )[:-1]

    def event(self, rest: Mapping[str, Any]) -> bytes:
        """An event with the fields of `rest` after ours; `rest` is not empty."""
        return b"data: " + self.head + b"," + json.encode(rest)[1:] + b"\n\n"

    def finale(self, usage: Usage | None, comment: bytes) -> bytes:
        """The end of a good answer; the usage chunk only if `usage` is given."""
        last = b""
        if usage is not None:
            last = self.event({"choices": [], "usage": counts.write(usage)})
        return last + comment + DONE

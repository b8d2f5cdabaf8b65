"""What a token is in the sandbox: a short piece of text with the space before it.

Deterministic, so that a test knows how many tokens an answer has. No real model's tokenizer.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.request import Request
from zurelay.sandbox.behaviour import MOST_TOKENS

_PIECE = re.compile(r"\s*\S{1,8}|\s+")
_MEDIA = 85
_PER_TURN = 3


def pieces(text: str) -> Sequence[str]:
    """`text` as its tokens, which join to it exactly; longer ones where there would be too many."""
    found: list[str] = _PIECE.findall(text)
    if len(found) <= MOST_TOKENS:
        return found
    size = -(-len(text) // MOST_TOKENS)
    return [text[start : start + size] for start in range(0, len(text), size)]


def prompt_tokens(request: Request) -> int:
    """Input tokens of a request: about four characters each."""
    count = sum(
        _PER_TURN + sum(_part_tokens(part) for part in turn.parts) for turn in request.turns
    )
    for tool in request.tools:
        count += _text_tokens(tool.name) + _text_tokens(tool.description or "")
        count += _data_tokens(tool.parameters)
    if request.answer_format is not None:
        count += _data_tokens(request.answer_format.schema)
    return count


def _part_tokens(part: Part) -> int:
    match part:
        case Text(text=text) | RefusalText(text=text) | Thinking(text=text):
            return _text_tokens(text)
        case ToolCall():
            return _text_tokens(part.name) + _text_tokens(part.arguments)
        case ToolResult():
            return sum(_part_tokens(inner) for inner in part.parts)
        case Image() | File() | Audio() | Video():
            return _MEDIA


def _text_tokens(text: str) -> int:
    return -(-len(text) // 4)


def _data_tokens(data: Mapping[str, Any] | None) -> int:
    return 0 if data is None else -(-len(msgspec.json.encode(data)) // 4)

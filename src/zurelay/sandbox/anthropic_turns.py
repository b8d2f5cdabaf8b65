"""Reads Anthropic's `system` and `messages` into neutral turns, for the sandbox alone.

Strict where Anthropic is: about empty text, about results that answer no call and calls without a
result, and about signatures.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from zurelay.chat.parts import File, Image, Part, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.request import Role, Turn
from zurelay.sandbox.proofs import genuine, proves
from zurelay.sandbox.reading import as_json, bad, mapping, string

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_OF_SERVER_TOOLS = ("_tool_result", "server_tool_use", "search_result", "container_upload")
_ABOUT_TOOLS = ("tool_reference", "tool_addition", "tool_removal")


def text_blocks(system: str | Sequence[Mapping[str, Any]] | None) -> tuple[Turn, ...]:
    """The system prompt as a turn; none where there is none."""
    parts = () if system is None else _content(system, "system")
    return (Turn("system", parts),) if parts else ()


def read_turns(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The conversation as turns.

    Raises:
        Refused: 400 with the path of what cannot stand there.
    """
    turns = tuple(_turn(message, f"messages.{place}") for place, message in enumerate(messages))
    waiting: set[str] = set()
    for place, turn in enumerate(turns):
        results = {part.call_id for part in turn.parts if isinstance(part, ToolResult)}
        if not results >= waiting:
            raise bad(
                f"messages.{place}",
                "`tool_use` ids were found without `tool_result` blocks immediately after: "
                + ", ".join(sorted(waiting - results)),
            )
        if not results <= waiting:
            raise bad(
                f"messages.{place}.content",
                "unexpected `tool_use_id` found in `tool_result` blocks: "
                + ", ".join(sorted(results - waiting)),
            )
        waiting = {part.id for part in turn.parts if isinstance(part, ToolCall)}
    if waiting:
        told = "`tool_use` ids were found without `tool_result` blocks immediately after"
        raise bad(f"messages.{len(turns) - 1}", told)
    return turns


def _turn(message: Mapping[str, Any], path: str) -> Turn:
    named = message.get("role")
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        raise bad(f"{path}.role", "Input should be 'user' or 'assistant'")
    return Turn(role, _content(message.get("content"), f"{path}.content"))


def _content(content: object, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise bad(path, "Input should be a valid list")
    found: list[Part] = []
    for place, block in enumerate(content):
        found += _block(mapping(block), f"{path}.{place}")
    return tuple(found)


def _block(block: Mapping[str, Any], path: str) -> tuple[Part, ...]:
    match block:
        case {"type": "text", "text": str(text)}:
            if not text.strip():
                raise bad(path, "text content blocks must be non-empty")
            return (Text(text),)
        case {"type": "image", "source": dict(source)}:
            return (Image(string(source, "url"), string(source, "data")),)
        case {"type": "document", "source": dict(source)}:
            return (File(string(source, "url"), string(source, "data")),)
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict(given)}:
            return (ToolCall(call_id, name, as_json(given)),)
        case {"type": "tool_result", "tool_use_id": str(call_id)}:
            inner = block.get("content")
            parts = () if inner is None else _content(inner, f"{path}.content")
            kept = tuple(part for part in parts if isinstance(part, Text | Image | File))
            return (ToolResult(call_id, kept, block.get("is_error") is True),)
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            if not proves(signature, text):
                raise bad(path, "Invalid `signature` in `thinking` block")
            return (Thinking(text, signature),)
        case {"type": "redacted_thinking", "data": str(data)}:
            if not genuine(data):
                raise bad(path, "Invalid `data` in `redacted_thinking` block")
            return (Thinking(signature=data, redacted=True),)
        case {"type": str(kind)} if kind.endswith(_OF_SERVER_TOOLS) or kind in _ABOUT_TOOLS:
            return ()
        case _:
            raise bad(path, "Input does not match any of the expected blocks")

"""Reads OpenAI's `messages` into neutral turns, for the sandbox alone.

Lenient where OpenAI is strict about things no sandbox model looks at; strict about roles and
about the types of what it reads.
"""

from collections.abc import Mapping, Sequence
from typing import Any

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
from zurelay.chat.problems import Refused, invalid_value
from zurelay.chat.request import Role, Turn
from zurelay.sandbox.reading import string

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
}


def read_turns(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The conversation as turns; tool messages become tool results of user turns.

    Raises:
        Refused: 400 with the path of the field that cannot be read.
    """
    return tuple(_turn(message, f"messages[{place}]") for place, message in enumerate(messages))


def _turn(message: Mapping[str, Any], path: str) -> Turn:
    named = message.get("role")
    if named == "tool":
        return Turn("user", (_result(message, path),))
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        roles = ", ".join((*_ROLES, "tool"))
        raise Refused(invalid_value(f"{path}.role", f"role must be one of {roles}."))
    parts = _content(message.get("content"), f"{path}.content")
    if role == "assistant":
        parts = (*_thinking(message), *parts, *_calls(message, path))
    name = message.get("name")
    return Turn(role, parts, name if isinstance(name, str) else None)


def _content(content: object, path: str) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise Refused(invalid_value(path, "content must be a string or a list of parts."))
    return tuple(_part(part, f"{path}[{place}]") for place, part in enumerate(content))


def _part(part: object, path: str) -> Part:
    match part:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "refusal", "refusal": str(text)}:
            return RefusalText(text)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return Image(url=url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return Audio(data=data, format=kind)
        case {"type": "video_url", "video_url": {"url": str(url)}}:
            return Video(url=url)
        case {"type": "file", "file": dict(fields)}:
            return File(data=string(fields, "file_data"), filename=string(fields, "filename"))
        case _:
            raise Refused(
                invalid_value(
                    path,
                    "A part must be text, image_url, input_audio, video_url, file or refusal.",
                )
            )


def _result(message: Mapping[str, Any], path: str) -> ToolResult:
    call_id = string(message, "tool_call_id")
    if call_id is None:
        raise Refused(invalid_value(f"{path}.tool_call_id", "A tool message needs tool_call_id."))
    parts = _content(message.get("content"), f"{path}.content")
    return ToolResult(
        call_id, tuple(part for part in parts if isinstance(part, Text | Image | File))
    )


def _thinking(message: Mapping[str, Any]) -> tuple[Part, ...]:
    text = string(message, "reasoning_content")
    return (Thinking(text),) if text else ()


def _calls(message: Mapping[str, Any], path: str) -> tuple[Part, ...]:
    calls = message.get("tool_calls")
    if not calls:
        return ()
    found: list[Part] = []
    for place, call in enumerate(calls if isinstance(calls, list) else [calls]):
        match call:
            case {"id": str(call_id), "function": {"name": str(name), "arguments": str(given)}}:
                found.append(ToolCall(call_id, name, given))
            case _:
                raise Refused(
                    invalid_value(
                        f"{path}.tool_calls[{place}]",
                        "A tool call needs id, function.name and function.arguments.",
                    )
                )
    return tuple(found)

"""Reads a Responses `input` into neutral turns, for the sandbox alone.

Strict where OpenAI is: about outputs that answer no call and calls without an output, about
encrypted thinking, and about thinking that leads to nothing. Items that no sandbox model looks at
are left alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from zurelay.chat.parts import (
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from zurelay.chat.problems import INVALID, Problem, Refused
from zurelay.chat.request import Role, Turn
from zurelay.sandbox.proofs import genuine
from zurelay.sandbox.reading import bad, mapping, string

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
}
_BY_ASSISTANT = ("function_call", "custom_tool_call")


def read_input(
    instructions: str | None, given: str | Sequence[Mapping[str, Any]]
) -> tuple[Turn, ...]:
    """The conversation as turns.

    Raises:
        Refused: 400 or 404 with the path of what cannot stand there.
    """
    turns = [] if instructions is None else [Turn("system", (Text(instructions),))]
    if isinstance(given, str):
        return (*turns, Turn("user", (Text(given),)))
    for place, item in enumerate(given):
        path = f"input[{place}]"
        following = given[place + 1] if place + 1 < len(given) else {}
        turn = _turn(item, path, following)
        if turn is not None:
            turns.append(turn)
    _check_calls(turns)
    return tuple(turns)


def _check_calls(turns: Sequence[Turn]) -> None:
    parts = [part for turn in turns for part in turn.parts]
    calls = {part.id for part in parts if isinstance(part, ToolCall)}
    outputs = {part.call_id for part in parts if isinstance(part, ToolResult)}
    for lost in sorted(outputs - calls):
        raise bad("input", f"No tool call found for function call output with call_id {lost}.")
    for lost in sorted(calls - outputs):
        raise bad("input", f"No tool output found for function call {lost}.")


def _turn(item: Mapping[str, Any], path: str, following: Mapping[str, Any]) -> Turn | None:
    match item:
        case {"type": "function_call", "call_id": str(call), "name": str(name)}:
            return Turn("assistant", (ToolCall(call, name, string(item, "arguments") or "{}"),))
        case {"type": "custom_tool_call", "call_id": str(call), "name": str(name)}:
            return Turn("assistant", (ToolCall(call, name, string(item, "input") or ""),))
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(call)}:
            parts = _content(item.get("output"), f"{path}.output")
            kept = tuple(part for part in parts if isinstance(part, Text | Image | File))
            return Turn("user", (ToolResult(call, kept),))
        case {"type": "reasoning"}:
            return _reasoning(item, path, following)
        case {"type": "item_reference", "id": str(name)}:
            told = f"Item with id '{name}' not found. Nothing is stored here."
            raise Refused(Problem(404, INVALID, None, told, "input"))
        case _:
            if item.get("type", "message") == "message":
                return _message(item, path)
            return None


def _message(item: Mapping[str, Any], path: str) -> Turn:
    named = item.get("role")
    role = _ROLES.get(named) if isinstance(named, str) else None
    if role is None:
        roles = ", ".join(_ROLES)
        raise bad(f"{path}.role", f"role must be one of {roles}.")
    return Turn(role, _content(item.get("content"), f"{path}.content"))


def _reasoning(item: Mapping[str, Any], path: str, following: Mapping[str, Any]) -> Turn:
    """Thinking comes back in its encrypted form, right before what it led to."""
    signature = string(item, "encrypted_content")
    if signature is None or not genuine(signature):
        told = "The encrypted content could not be verified."
        code = "invalid_encrypted_content"
        raise Refused(Problem(400, INVALID, code, told, f"{path}.encrypted_content"))
    spoken = following.get("type") in (*_BY_ASSISTANT, "reasoning")
    if not spoken and following.get("role") != "assistant":
        told = "Item of type 'reasoning' was provided without its required following item."
        raise bad(path, told)
    return Turn("assistant", (Thinking(signature=signature, redacted=True),))


def _content(content: object, path: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise bad(path, "Expected a string or a list of parts.")
    return tuple(_part(mapping(part), f"{path}[{place}]") for place, part in enumerate(content))


def _part(part: Mapping[str, Any], path: str) -> Part:
    match part:
        case {"type": "input_text" | "output_text", "text": str(text)}:
            return Text(text)
        case {"type": "refusal", "refusal": str(text)}:
            return RefusalText(text)
        case {"type": "input_image"}:
            return Image(url=string(part, "image_url"))
        case {"type": "input_file"}:
            data, name = string(part, "file_data"), string(part, "filename")
            return File(url=string(part, "file_url"), data=data, filename=name)
        case _:
            raise bad(
                path, "A part must be input_text, input_image, input_file, output_text or refusal."
            )

"""Reads Gemini's `contents` into neutral turns, for the sandbox alone.

Strict where Google is: about roles, about as many function responses as calls, and about the
signatures of calls in the current turn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from zurelay.chat.parts import Audio, File, Image, Part, Text, ToolCall, ToolResult, Video
from zurelay.chat.request import Role, Turn
from zurelay.sandbox.proofs import genuine, proves
from zurelay.sandbox.reading import as_json, bad, mapping, string

SKIP = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""`skip_thought_signature_validator` in base64: says that there is none to check."""

_ROLES: Mapping[str, Role] = {"user": "user", "model": "assistant"}


def read_instruction(instruction: Mapping[str, Any] | None) -> tuple[Turn, ...]:
    """The system instruction as a turn; none where there is none."""
    if instruction is None:
        return ()
    parts = _parts_of(instruction, "system_instruction")
    found = tuple(Text(str(mapping(part).get("text") or "")) for part in parts)
    return (Turn("system", found),)


def read_turns(contents: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The conversation as turns.

    Raises:
        Refused: 400 with the path of what cannot stand there.
    """
    current = _current(contents)
    turns: list[Turn] = []
    calls: list[ToolCall] = []
    for place, content in enumerate(contents):
        path = f"contents[{place}]"
        named = content.get("role", "user")
        role = _ROLES.get(named) if isinstance(named, str) else None
        if role is None:
            raise bad(f"{path}.role", "Please use a valid role: user, model.")
        given = _parts_of(content, path)
        if not given:
            raise bad(f"{path}.parts", "contents.parts must not be empty.")
        if role == "assistant":
            _check_signatures(given, path, needed=place > current)
        parts = tuple(
            _part(mapping(part), calls, f"{path}.parts[{at}]") for at, part in enumerate(given)
        )
        answers = sum(isinstance(part, ToolResult) for part in parts)
        if answers != len(calls):
            told = (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
            raise bad(path, told)
        calls = [part for part in parts if isinstance(part, ToolCall)]
        turns.append(Turn(role, parts))
    return tuple(turns)


def _parts_of(content: Mapping[str, Any], path: str) -> list[Any]:
    parts = content.get("parts")
    if not isinstance(parts, list):
        raise bad(f"{path}.parts", "parts must be a list.")
    return parts


def _current(contents: Sequence[Mapping[str, Any]]) -> int:
    """Where the current turn begins: the last of the user's contents that answers no call."""
    found = 0
    for place, content in enumerate(contents):
        parts = content.get("parts")
        answers = isinstance(parts, list) and any("functionResponse" in mapping(p) for p in parts)
        if content.get("role", "user") == "user" and not answers:
            found = place
    return found


def _check_signatures(parts: Sequence[Any], path: str, *, needed: bool) -> None:
    for at, part in enumerate(parts):
        signature = mapping(part).get("thoughtSignature")
        call = mapping(mapping(part).get("functionCall"))
        if call and needed and signature is None:
            told = (
                "Function call is missing a thought_signature in functionCall parts. "
                f"Function call `{call.get('name')}`, position {at + 1}."
            )
            raise bad(f"{path}.parts[{at}]", told)
        if signature is not None and signature != SKIP:
            right = isinstance(signature, str) and (
                proves(signature, str(call.get("name"))) if call else genuine(signature)
            )
            if not right:
                raise bad(f"{path}.parts[{at}]", "Corrupted thought signature.")
        if call:
            needed = False  # of parallel calls only the first one has it


def _part(part: Mapping[str, Any], calls: Sequence[ToolCall], path: str) -> Part:
    match part:
        case {"text": str(text)}:
            return Text(text)
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return _media(kind, data)
        case {"fileData": {"fileUri": str(uri)}}:
            return File(url=uri)
        case {"functionCall": {"name": str(name)}}:
            call = part["functionCall"]
            call_id = string(call, "id") or f"{name}@{path}"
            return ToolCall(call_id, name, as_json(call.get("args") or {}))
        case {"functionResponse": {"name": str(name), "response": dict(response)}}:
            return _result(part["functionResponse"], name, response, calls, path)
        case _:
            raise bad(path, "Unknown or missing data in a part.")


def _result(
    answer: Mapping[str, Any],
    name: str,
    response: Mapping[str, Any],
    calls: Sequence[ToolCall],
    path: str,
) -> ToolResult:
    """The answer to one of `calls`, found by id, else by name."""
    wanted = string(answer, "id")
    named = [call for call in calls if call.name == name]
    if not named:
        raise bad(path, f"No function call of the turn before is named `{name}`.")
    call_id = next((call.id for call in named if call.id == wanted), named[0].id)
    said = response.get("output", response.get("error"))
    text = said if isinstance(said, str) else as_json(response)
    return ToolResult(call_id, (Text(text),), is_error="error" in response)


def _media(kind: str, data: str) -> Part:
    family = kind.partition("/")[0]
    if family == "image":
        return Image(data=data, media_type=kind)
    if family == "audio":
        return Audio(data, kind)
    if family == "video":
        return Video(f"data:{kind};base64,{data}")
    return File(data=data, media_type=kind)

"""Checks of the items of a Responses request, and what they tell about it: needs, length, marks.

Shapes are checked here, not the order of items. Items of unknown types pass: newer clients send
new ones, which are left out of the conversation and reported.
"""

from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
from msgspec import Raw

from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE, measure_pdf
from zurelay.chat.problems import Refused
from zurelay.formats import seen as noted
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.invalid import words
from zurelay.formats.openai_responses import toolbox
from zurelay.formats.openai_responses.invalid import (
    ASSISTANT_PARTS,
    INPUT_PARTS,
    ROLES,
    invalid,
    missing,
    of_decoder,
)
from zurelay.formats.openai_responses.view import (
    ADDITIONAL,
    CALL,
    KIND,
    MESSAGE,
    OUTPUT,
    REASONING,
    Call,
    Message,
    Output,
    Part,
    Reasoning,
    Tool,
)

WHOLE_HISTORY = "This endpoint keeps nothing: send the whole history as 'input' instead."
_URL = ("https://", "http://", "data:")
_REMOTE = ("https://", "http://")
_STORED = frozenset({"item_reference", "compaction"})
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})

_T = TypeVar("_T")


@dataclass(slots=True)
class Seen(noted.Seen):
    """What a request held.

    Attributes:
        marks: `remote_image`, `remote_file`.
        tools: that the input brings, each with its path; their shapes are still to be checked.
    """

    tools: list[tuple[str, Tool]] = field(default_factory=list)


def check(instructions: str | None, given: str | list[Raw] | None, seen: Seen) -> None:
    """Check the whole input and note what it holds. Raises Refused."""
    if given is None:
        raise Refused(missing("input"))
    if not given:
        raise Refused(invalid("input", "an empty list" if isinstance(given, list) else "nothing"))
    opening = [instructions or ""]
    seen.texts.append(opening[0])
    if isinstance(given, str):
        seen.texts.append(given)
        seen.other_length += PER_MESSAGE
        opening.append(given)
    else:
        seen.other_length += PER_MESSAGE * len(given)
        opened = False
        for place, raw in enumerate(given):
            role, text = _item(f"input[{place}]", raw, seen)
            if not opened and role not in (None, "assistant"):
                opening.append(text)
                opened = role == "user"
    seen.opening = "\x00".join(opening).encode("utf-8", "surrogatepass")


def _item(path: str, raw: Raw, seen: Seen) -> tuple[str | None, str]:
    """Role and text of a message; None for any other item."""
    kind = _decoded(KIND, raw, path)
    if kind.type is None or kind.type == "message":
        return _message(path, kind.role, _decoded(MESSAGE, raw, path), seen)
    if kind.type in _STORED:
        told = f"'{path}' is an item of type '{kind.type}'. {WHOLE_HISTORY}"
        raise Refused(problems.unsupported_content(f"{path}.type", told))
    if kind.type in _CALLS:
        _call(path, _CALLS[kind.type], _decoded(CALL, raw, path), seen)
    elif kind.type in _OUTPUTS:
        _output(path, _decoded(OUTPUT, raw, path), seen)
    elif kind.type == "reasoning":
        _reasoning(_decoded(REASONING, raw, path), seen)
    elif kind.type == toolbox.ADDITIONAL:
        _tools(path, raw, seen)
    return None, ""


def _decoded(decoder: "msgspec.json.Decoder[_T]", raw: Raw, path: str) -> _T:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise Refused(of_decoder(error, path)) from None


def _message(path: str, role: str | None, message: Message, seen: Seen) -> tuple[str, str]:
    if role is None:
        raise Refused(missing(f"{path}.role"))
    if role not in ROLES:
        raise Refused(invalid(f"{path}.role", f"'{role[:40]}'"))
    content = message.content
    if content is None:
        raise Refused(missing(f"{path}.content"))
    if isinstance(content, str):
        seen.texts.append(content)
        return role, content
    _parts(f"{path}.content", role, content, seen)
    return role, "\x00".join(part.text or part.image_url or "" for part in content)


def _parts(path: str, role: str, parts: list[Part], seen: Seen) -> None:
    for place, part in enumerate(parts):
        _part(f"{path}[{place}]", role, part, seen)


def _part(path: str, role: str, part: Part, seen: Seen) -> None:
    kind = part.type
    # Clients write an assistant's text as any of these.
    if kind in ("input_text", "output_text", "text"):
        if part.text is None:
            raise Refused(missing(f"{path}.text"))
        seen.texts.append(part.text)
    elif kind == "refusal" and role == "assistant":
        if part.refusal is None:
            raise Refused(missing(f"{path}.refusal"))
        seen.texts.append(part.refusal)
    elif kind == "input_image" and role != "assistant":
        _image(path, part, seen)
    elif kind == "input_file" and role != "assistant":
        _file(path, part, seen)
    elif kind == "input_audio" and role == "user":
        if part.input_audio is None:
            raise Refused(missing(f"{path}.input_audio"))
        seen.needs.setdefault(Ability.AUDIO, path)
        seen.media_count += 1
    else:
        right = words(ASSISTANT_PARTS if role == "assistant" else INPUT_PARTS)
        told = f"Invalid value for '{path}.type': expected {right}, not '{kind[:40]}'."
        raise Refused(problems.invalid_value(f"{path}.type", told))


def _image(path: str, part: Part, seen: Seen) -> None:
    if part.image_url is None:
        raise Refused(_stored(f"{path}.file_id") if part.file_id else missing(f"{path}.image_url"))
    if not part.image_url.startswith(_URL):
        raise Refused(invalid(f"{path}.image_url", "something else"))
    if part.image_url.startswith(_REMOTE):
        seen.marks.add("remote_image")
    seen.needs.setdefault(Ability.IMAGE, path)
    seen.media_count += 1


def _file(path: str, part: Part, seen: Seen) -> None:
    if part.file_url is not None:
        if not part.file_url.startswith(_REMOTE):
            raise Refused(invalid(f"{path}.file_url", "something else"))
        seen.marks.add("remote_file")
    elif part.file_data is None:
        raise Refused(_stored(f"{path}.file_id") if part.file_id else missing(f"{path}.file_data"))
    elif not part.file_data.startswith("data:"):
        raise Refused(invalid(f"{path}.file_data", "something else"))
    seen.other_length += measure_pdf(len(part.file_data or ""))
    seen.needs.setdefault(Ability.PDF, path)
    seen.media_count += 1


def _stored(path: str) -> problems.Problem:
    told = (
        f"'{path}' names a file stored at a provider, which no other route can read; send the "
        "file itself."
    )
    return problems.unsupported_content(path, told)


def _call(path: str, said: str, call: Call, seen: Seen) -> None:
    for name in ("call_id", "name"):
        if not getattr(call, name):
            raise Refused(missing(f"{path}.{name}"))
    text = call.arguments if said == "arguments" else call.input
    if text is None:
        raise Refused(missing(f"{path}.{said}"))
    seen.texts.append(text)


def _output(path: str, result: Output, seen: Seen) -> None:
    if not result.call_id:
        raise Refused(missing(f"{path}.call_id"))
    if result.output is None:
        raise Refused(missing(f"{path}.output"))
    if isinstance(result.output, str):
        seen.texts.append(result.output)
        return
    _parts(f"{path}.output", "tool", result.output, seen)


def _tools(path: str, raw: Raw, seen: Seen) -> None:
    tools = _decoded(ADDITIONAL, raw, path).tools
    if tools is None:
        raise Refused(missing(f"{path}.tools"))
    seen.tools += [(f"{path}.tools[{place}]", tool) for place, tool in enumerate(tools)]
    seen.texts.append(bytes(raw).decode())


def _reasoning(item: Reasoning, seen: Seen) -> None:
    for part in (*(item.summary or ()), *(item.content or ())):
        seen.texts.append(part.text or "")

"""Checks of a request's messages, and what they tell about it: needs, length, marks.

Shapes are checked here, not the order of turns: providers differ in what they allow, and say so.
"""

from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE, measure_pdf
from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.invalid import PART_TYPES, ROLES, invalid, missing, words
from zurelay.formats.openai_chat.view import Call, Message, Part, given
from zurelay.formats.seen import Seen

TEXT_ONLY = frozenset({"system", "developer"})
_ABILITIES = {
    "image_url": Ability.IMAGE,
    "file": Ability.PDF,
    "input_audio": Ability.AUDIO,
    "video_url": Ability.VIDEO,
}
_URL = ("https://", "http://", "data:")
_REMOTE = ("https://", "http://")


def check(messages: list[Message] | None, seen: Seen) -> None:
    """Check all messages and note what they hold.

    Marks: `developer`, `name`, `text_parts` (a list of text parts only), `reasoning` (carried in
    history), `calls`, `call_ids`, `call_index`, `no_calls` (an empty list), `empty_stop`,
    `more_systems` (any but the first message), `user_after_tool`, `file`, `strict`, and
    `remote_image`, `remote_file`, `remote_video` (by http or https).

    Raises:
        Refused: 400.
    """
    if messages is None:
        raise Refused(missing("messages"))
    if not messages:
        raise Refused(invalid("messages", "an empty list"))
    opening: list[str] = []
    opened = False
    previous = ""
    for place, message in enumerate(messages):
        role = message.role
        if role not in ROLES:
            raise Refused(invalid(f"messages[{place}].role", f"'{role[:40]}'"))
        _check_one(place, message, seen)
        if place and role in TEXT_ONLY:
            seen.marks.add("more_systems")
        if role == "user" and previous == "tool":
            seen.marks.add("user_after_tool")
        previous = role
        if not opened and role != "assistant":
            opening.append(_text(message))
            opened = role == "user"
    seen.other_length += PER_MESSAGE * len(messages)
    seen.opening = "\x00".join(opening).encode()


def _text(message: Message) -> str:
    content = message.content
    if not isinstance(content, list):
        return content or ""
    return "\x00".join(
        part.text or (part.image_url.url if part.image_url else "") for part in content
    )


def _check_one(place: int, message: Message, seen: Seen) -> None:
    role, content, marks = message.role, message.content, seen.marks
    if role == "developer":
        marks.add("developer")
    if message.name is not None:
        marks.add("name")
    if isinstance(content, str):
        seen.texts.append(content)
    elif content:
        _check_parts(place, role, content, seen)
    if role == "assistant":
        _check_assistant(place, message, seen)
    elif not content and not isinstance(content, str):
        path = f"messages[{place}].content"
        raise Refused(missing(path) if content is None else invalid(path, "an empty list"))
    if role == "tool":
        marks.add("call_ids")
        if not message.tool_call_id:
            raise Refused(missing(f"messages[{place}].tool_call_id"))


def _check_parts(place: int, role: str, parts: list[Part], seen: Seen) -> None:
    only_text = True
    for at, part in enumerate(parts):
        kind = part.type
        path = f"messages[{place}].content[{at}]"
        if kind == "text":
            if part.text is None:
                raise Refused(missing(f"{path}.text"))
            seen.texts.append(part.text)
            continue
        only_text = False
        if kind == "refusal" and role == "assistant":
            if part.refusal is None:
                raise Refused(missing(f"{path}.refusal"))
            seen.texts.append(part.refusal)
        elif kind not in PART_TYPES or not _allowed(role, kind):
            raise Refused(problems.invalid_value(f"{path}.type", _wrong_type(role, kind, path)))
        else:
            _check_media(path, part, seen)
            seen.needs.setdefault(_ABILITIES[kind], path)
            seen.media_count += 1
    if only_text:
        seen.marks.add("text_parts")


def _allowed(role: str, kind: str) -> bool:
    if role == "user":
        return True
    return role == "tool" and kind in {"image_url", "file"}


def _wrong_type(role: str, kind: str, path: str) -> str:
    types: tuple[str, ...] = tuple(t for t in PART_TYPES if t == "text" or _allowed(role, t))
    if role == "assistant":
        types = ("text", "refusal")
    return (
        f"Invalid value for '{path}.type': a part of a message with role '{role}' has type "
        f"{words(types)}, not '{kind[:40]}'."
    )


def _check_media(path: str, part: Part, seen: Seen) -> None:
    kind = part.type
    if kind in {"image_url", "video_url"}:
        view = part.image_url if kind == "image_url" else part.video_url
        if view is None:
            raise Refused(missing(f"{path}.{kind}"))
        if not view.url.startswith(_URL):
            raise Refused(invalid(f"{path}.{kind}.url", "something else"))
        if view.url.startswith(_REMOTE):
            seen.marks.add("remote_image" if kind == "image_url" else "remote_video")
    elif kind == "input_audio":
        if part.input_audio is None:
            raise Refused(missing(f"{path}.input_audio"))
    else:
        _check_file(path, part, seen)


def _check_file(path: str, part: Part, seen: Seen) -> None:
    if part.file is None:
        raise Refused(missing(f"{path}.file"))
    if part.file.file_id is not None:
        told = (
            f"'{path}.file.file_id' names a file stored at a provider, which no other route can "
            "read; send the file itself as 'file_data'."
        )
        raise Refused(problems.unsupported_content(f"{path}.file.file_id", told))
    if part.file.file_data is None:
        raise Refused(missing(f"{path}.file.file_data"))
    if not part.file.file_data.startswith(_URL):
        raise Refused(invalid(f"{path}.file.file_data", "something else"))
    if part.file.file_data.startswith(_REMOTE):
        seen.marks.add("remote_file")
    seen.other_length += measure_pdf(len(part.file.file_data))
    seen.marks.add("file")


def _check_assistant(place: int, message: Message, seen: Seen) -> None:
    marks = seen.marks
    if message.reasoning_content or message.reasoning or message.reasoning_details:
        marks.add("reasoning")
        seen.texts.append(message.reasoning_content or message.reasoning or "")
    elif message.reasoning_content is not None or message.reasoning is not None:
        marks.add("reasoning")
    if given(message.audio):
        told = (
            f"'messages[{place}].audio' names an answer stored at a provider, which no other route "
            "can read; send its transcript as 'content'."
        )
        raise Refused(problems.unsupported_content(f"messages[{place}].audio", told))
    if message.tool_calls is not None:
        marks.add("call_ids" if message.tool_calls else "no_calls")
        for at, call in enumerate(message.tool_calls):
            _check_call(f"messages[{place}].tool_calls[{at}]", call, seen)
        if message.tool_calls:
            marks.add("calls")
            return
    if message.content or isinstance(message.content, str) or message.refusal is not None:
        return
    if "reasoning" in marks and (message.reasoning_content or message.reasoning):
        return
    if not given(message.function_call):
        raise Refused(
            problems.missing(
                f"messages[{place}].content",
                f"Missing required parameter: 'messages[{place}].content'; a message with role "
                "'assistant' has 'content' or 'tool_calls'.",
            )
        )


def _check_call(path: str, call: Call, seen: Seen) -> None:
    if not call.id:
        raise Refused(invalid(f"{path}.id", "an empty string"))
    if given(call.index):
        seen.marks.add("call_index")
    if call.type not in (None, "function", "custom"):
        raise Refused(
            problems.invalid_value(
                f"{path}.type", f"Invalid value for '{path}.type': expected 'function' or 'custom'."
            )
        )
    if call.type == "custom":
        if call.custom is None:
            raise Refused(missing(f"{path}.custom"))
        seen.texts.append(call.custom.input)
        return
    if call.function is None:
        raise Refused(missing(f"{path}.function"))
    seen.texts.append(call.function.arguments)

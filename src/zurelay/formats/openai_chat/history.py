"""Edits of the messages of a request that stays in this format.

Messages are touched only where something in them must change, and only that: content keeps the
caller's bytes. A pure function of its input, message by message, so that a longer conversation
starts with the bytes of the shorter one.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat.view import given
from zurelay.formats.origin import carrier, is_foreign
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

REASONING = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text")
"""Fields in which callers and vendors carry an assistant's earlier thinking."""

_MESSAGES = msgspec.json.Decoder(list[dict[str, Raw]])
_CALLS = msgspec.json.Decoder(list[dict[str, Raw]])
_STRING = msgspec.json.Decoder(str)

Message = dict[str, Any]
"""Fields of a message: the caller's bytes, or plain values that an edit put there."""


def edit(
    raw: Raw, marks: frozenset[str], profile: Profile, lines: Sequence[str] = ()
) -> tuple[object, tuple[str, ...]]:
    """The messages for an upstream with `profile`, and the paths of what was dropped.

    Args:
        raw: the caller's messages, checked.
        marks: what reading them noticed, see `messages.check`.
        profile: the upstream's quirks.
        lines: instructions of our own that go last.
    """
    if not lines and not _concerns(marks, profile):
        return raw, ()
    dropped: list[str] = []
    messages: list[Message] = list(_MESSAGES.decode(raw))
    for message in messages:
        _edit_one(message, profile, dropped)
    if profile.single_system and "more_systems" in marks:
        messages = _systems_first(messages)
    if not profile.user_after_tool and "user_after_tool" in marks:
        messages = _assistants_between(messages)
    if lines:
        _add_lines(messages, lines, profile)
    return messages, tuple(dropped)


def _concerns(marks: frozenset[str], profile: Profile) -> bool:
    return bool(marks) and (
        not marks.isdisjoint({"reasoning", "call_index", "no_calls"})
        or ("developer" in marks and not profile.developer_role)
        or ("name" in marks and profile.drops_message_names)
        or ("text_parts" in marks and profile.string_content)
        or ("calls" in marks and profile.reasoning_placeholder is not None)
        or ("call_ids" in marks and profile.tool_ids != "any")
        or ("more_systems" in marks and profile.single_system)
        or ("user_after_tool" in marks and not profile.user_after_tool)
    )


def _edit_one(message: Message, profile: Profile, dropped: list[str]) -> None:
    role = _role(message)
    if role == "developer" and not profile.developer_role:
        message["role"] = "system"
    names = profile.drops_message_names and role != "tool" and "name" in message
    if names and given(message.pop("name")):
        dropped.append("messages[].name")
    if profile.string_content and "content" in message:
        message["content"] = _as_string(message["content"])
    if role == "assistant":
        calls = _edit_calls(message, profile)
        _edit_reasoning(message, profile, has_calls=calls)
    elif role == "tool" and profile.tool_ids != "any":
        call_id = _STRING.decode(message["tool_call_id"])
        message["tool_call_id"] = legal(call_id, profile.tool_ids)


def _as_string(content: Raw) -> object:
    """Text parts joined to one string; anything else stays as it is."""
    parts = json.decode(content)
    if not isinstance(parts, list) or any(part["type"] != "text" for part in parts):
        return content
    return "\n\n".join(part["text"] for part in parts)


def _edit_calls(message: Message, profile: Profile) -> bool:
    """Clean `tool_calls`; returns whether there are any."""
    raw = message.get("tool_calls")
    if raw is None or not given(raw):
        return False
    calls: list[Message] = list(_CALLS.decode(raw))
    if not calls:
        del message["tool_calls"]
        return False
    changed = False
    for call in calls:
        # A key of streams only; some hosts refuse it in history.
        changed |= call.pop("index", None) is not None
        call_id = _STRING.decode(call["id"])
        new_id = legal(call_id, profile.tool_ids)
        if new_id != call_id:
            call["id"] = new_id
            changed = True
    if changed:
        message["tool_calls"] = calls
    return True


def _edit_reasoning(message: Message, profile: Profile, has_calls: bool) -> None:
    carried = {name: message.pop(name) for name in REASONING if name in message}
    wanted = profile.reasoning_in
    if wanted == "none":
        return
    parsed = {name: json.decode(raw) for name, raw in carried.items()}
    if _foreign(parsed.get("reasoning_details"), profile.realm):
        parsed = {}
    if wanted == "reasoning_details":
        details = _details(parsed)
        if details:
            message["reasoning_details"] = details
        return
    text = reasoning_text(parsed)
    if not text and has_calls:
        text = profile.reasoning_placeholder
    if text is not None and (text or has_calls):
        message[wanted] = text


def _foreign(details: object, realm: str) -> bool:
    """Whether the thinking is another vendor's, which must not be shown to this one at all."""
    return isinstance(details, list) and any(
        isinstance(item, dict) and is_foreign(item.get("format"), realm) for item in details
    )


def reasoning_text(fields: Message) -> str | None:
    """The thinking that parsed fields carry: the first that has any, None if none does."""
    for name in ("reasoning_content", "reasoning", "reasoning_text"):
        text = fields.get(name)
        if isinstance(text, str) and text:
            return text
    details = fields.get("reasoning_details")
    texts = [
        item.get("text") or item.get("summary")
        for item in (details if isinstance(details, list) else [])
        if isinstance(item, dict)
    ]
    return "".join(text for text in texts if isinstance(text, str)) or None


def _details(fields: Message) -> list[Any] | None:
    """`reasoning_details` to send back: signed blocks get the text that we showed apart."""
    text = reasoning_text({**fields, "reasoning_details": None})
    details = fields.get("reasoning_details")
    items = [
        {**item, "format": carrier(item["format"])} if "format" in item else item
        for item in (details or [])
        if isinstance(item, dict)
    ]
    if not items:
        return [{"type": "reasoning.text", "text": text}] if text else None
    bare = [item for item in items if item.get("type") == "reasoning.text" and not item.get("text")]
    if not bare or not text:
        return items
    if len(bare) > 1:
        return None  # which text belongs to which proof is lost: none is better than a wrong one
    return [{**item, "text": text} if item is bare[0] else item for item in items]


def _role(message: Message) -> str:
    role = message["role"]
    return role if isinstance(role, str) else _STRING.decode(role)


def _systems_first(messages: list[Message]) -> list[Message]:
    """One system message at the start; later ones as user turns at their place, in tags."""
    systems: list[str] = []
    rest: list[Message] = []
    for message in messages:
        if _role(message) not in ("system", "developer"):
            rest.append(message)
        elif rest:
            rest.append({"role": "user", "content": f"<system>{_text_of(message)}</system>"})
        else:
            systems.append(_text_of(message))
    first: list[Message] = [{"role": "system", "content": "\n\n".join(systems)}] if systems else []
    return first + rest


def _text_of(message: Message) -> str:
    content = message["content"]
    return _plain(json.decode(content) if isinstance(content, Raw) else content)


def _plain(content: object) -> str:
    if isinstance(content, list):
        return "\n\n".join(part["text"] for part in content)
    return str(content)


def _assistants_between(messages: list[Message]) -> list[Message]:
    out: list[Message] = []
    for message in messages:
        if out and _role(out[-1]) == "tool" and _role(message) == "user":
            out.append({"role": "assistant", "content": "."})
        out.append(message)
    return out


def _add_lines(messages: list[Message], lines: Sequence[str], profile: Profile) -> None:
    text = "\n".join(lines)
    first = messages[0]
    if not profile.single_system:
        messages.append({"role": "system", "content": text})
    elif _role(first) == "system":
        first["content"] = f"{_text_of(first)}\n\n{text}"
    else:
        messages.insert(0, {"role": "system", "content": text})

"""Content blocks for an upstream of this format, written from neutral parts, one by one.

A pure function of the part and the profile. Knows no order of turns.
"""

from base64 import b64decode
from typing import Any

from zurelay.chat import problems
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
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.anthropic import ORIGIN
from zurelay.formats.call_arguments import as_object
from zurelay.formats.media_types import media_type
from zurelay.formats.origin import may_read
from zurelay.formats.tool_ids import legal
from zurelay.formats.tool_names import legal_name

Block = dict[str, Any]


def cache_control(cache: str | None, profile: Profile) -> Block:
    """The breakpoint of a part, as fields of its block."""
    if cache is None:
        return {}
    long = {"ttl": "1h"} if cache == "1h" and profile.long_cache else {}
    return {"cache_control": {"type": "ephemeral", **long}}


def text(part: Text, profile: Profile) -> list[Block]:
    """A text block; nothing for blank text, which is a 400."""
    if not part.text.strip():
        return []
    return [{"type": "text", "text": part.text, **cache_control(part.cache, profile)}]


def of_user(part: Part, profile: Profile) -> list[Block]:
    """What a user turn says; results are `result`'s business."""
    match part:
        case Text():
            return text(part, profile)
        case Image():
            return [_image(part, profile)]
        case File():
            return _file(part, profile)
        case Audio():
            raise Refused(_no_place("audio"))
        case Video():
            raise Refused(_no_place("video"))
        case RefusalText(said):
            return text(Text(said), profile)
        case Thinking() | ToolCall() | ToolResult():
            raise TypeError(f"{type(part).__name__} is no content of a user turn")


def of_assistant(part: Part, profile: Profile) -> list[Block]:
    """What an assistant turn said."""
    match part:
        case Thinking():
            return _thinking(part, profile)
        case ToolCall():
            return [_call(part)]
        case RefusalText(said):
            return text(Text(said), profile)
        case ToolResult():
            return []
        case _:
            return of_user(part, profile)


def result(part: ToolResult, profile: Profile) -> tuple[Block, list[Block]]:
    """A tool's result, and the pictures that cannot stand in it because it is an error."""
    inside: list[Block] = []
    aside: list[Block] = []
    for item in part.parts:
        blocks = of_user(item, profile)
        # A picture in an error result is a 400 (pi-ai #10794, 2026-11).
        (inside if isinstance(item, Text) or not part.is_error else aside).extend(blocks)
    block: Block = {"type": "tool_result", "tool_use_id": legal(part.call_id, "max64")}
    alone = len(inside) == 1 and set(inside[0]) == {"type", "text"}
    if inside:
        block["content"] = inside[0]["text"] if alone else inside
    if part.is_error:
        block["is_error"] = True
    return {**block, **cache_control(part.cache, profile)}, aside


def _thinking(part: Thinking, profile: Profile) -> list[Block]:
    if not part.signature or not may_read(part.origin, profile.realm, ORIGIN):
        return []
    if part.redacted:
        return [{"type": "redacted_thinking", "data": part.signature}]
    return [{"type": "thinking", "thinking": part.text, "signature": part.signature}]


def _call(part: ToolCall) -> Block:
    return {
        "type": "tool_use",
        "id": legal(part.id, "max64"),
        "name": legal_name(part.name),
        "input": as_object(part.arguments),
    }


def _image(part: Image, profile: Profile) -> Block:
    if part.url is not None:
        source: Block = {"type": "url", "url": part.url}
    else:
        data = part.data or ""
        kind = media_type(data) or part.media_type or "image/png"
        source = {"type": "base64", "media_type": kind, "data": data}
    return {"type": "image", "source": source, **cache_control(part.cache, profile)}


def _file(part: File, profile: Profile) -> list[Block]:
    if part.file_id is not None:
        told = "A file stored at a provider cannot be read through this gateway; send it whole."
        raise Refused(problems.unsupported_content("messages", told))
    if part.url is not None:
        source: Block = {"type": "url", "url": part.url}
    else:
        data = part.data or ""
        kind = media_type(data) or part.media_type or "application/pdf"
        if kind.startswith("image/"):
            return [_image(Image(data=data, media_type=kind, cache=part.cache), profile)]
        if kind.startswith("text/") or kind in ("application/json", "application/xml"):
            source = {"type": "text", "media_type": "text/plain", "data": _decoded(data)}
        else:
            source = {"type": "base64", "media_type": "application/pdf", "data": data}
    title = {"title": part.filename} if part.filename else {}
    return [{"type": "document", "source": source, **title, **cache_control(part.cache, profile)}]


def _decoded(data: str) -> str:
    try:
        return b64decode(data, validate=False).decode("utf-8", "replace")
    except ValueError:
        return data


def _no_place(what: str) -> problems.Problem:
    told = f"This model's provider takes no {what}."
    return problems.unsupported_content("messages", told)

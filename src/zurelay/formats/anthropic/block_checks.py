"""Content blocks of a Messages request: what each must hold, and what is noted of it.

Blocks of unknown types pass: a newer API may have them.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from zurelay.chat import problems
from zurelay.chat.estimate import measure_pdf
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic import envelope
from zurelay.formats.anthropic.invalid import invalid, missing
from zurelay.formats.anthropic.turn_changes import CHANGED, CHANGES
from zurelay.formats.anthropic.view import BLOCKS, CHANGE, SOURCE, Block, Source, Tool
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.view import given, size, text
from zurelay.formats.seen import Seen
from zurelay.wire import json

LONGEST_TOOL_NAME = 128
COSTLY_TOOLS = ("web_search", "code_execution")
"""How types of tools begin that the provider runs for a fee (vendor's pricing page, 2026-11-29)."""

_ONLY_IN = {
    **dict.fromkeys(("tool_use", "thinking", "redacted_thinking"), "assistant"),
    "tool_result": "user",
}
_OWN_TOOLS = (None, "custom")


def check_block(path: str, role: str, block: Block, seen: Seen) -> None:
    """Check one block of a message of that role, and note what it holds.

    Marks: `foreign_thinking` (none of Anthropic's own is signed so), `remote_image`, `remote_file`,
    `turn_changes`.

    Raises:
        Refused: 400.
    """
    kind = block.type
    if _ONLY_IN.get(kind, role) != role:
        told = f"'{path}.type' is '{kind}', which only messages of the {_ONLY_IN[kind]} may hold."
        raise Refused(problems.invalid_value(f"{path}.type", told))
    _CHECKS.get(kind, _unknown)(path, block, seen)


def own_tool(path: str, tool: Tool) -> None:
    """Check what a tool of the caller's own must have; a provider's own may be anything."""
    if tool.type not in _OWN_TOOLS:
        return
    if not tool.name:
        raise Refused(missing(f"{path}.name"))
    if len(tool.name) > LONGEST_TOOL_NAME:
        raise Refused(invalid(f"{path}.name", f"{len(tool.name)} characters"))
    if tool.input_schema is None:
        raise Refused(missing(f"{path}.input_schema"))


def _words(path: str, block: Block, seen: Seen) -> None:
    if block.text is None:
        raise Refused(missing(f"{path}.text"))
    seen.texts.append(block.text)


def _thought(path: str, block: Block, seen: Seen) -> None:
    if block.thinking is None:
        raise Refused(missing(f"{path}.thinking"))
    seen.texts.append(block.thinking)
    if envelope.is_foreign(block.signature or ""):
        seen.marks.add("foreign_thinking")


def _search_result(path: str, block: Block, seen: Seen) -> None:
    if bytes(block.content).lstrip().startswith(b'"'):
        raise Refused(invalid(f"{path}.content", "a string"))
    _inner(f"{path}.content", block.content, seen)


def _unknown(path: str, block: Block, seen: Seen) -> None:
    if block.file_id is not None:
        seen.needs.setdefault(Ability.STORED, f"{path}.file_id")
    seen.other_length += size(block.content) if given(block.content) else 0


def _call(path: str, block: Block, seen: Seen) -> None:
    for name in ("id", "name"):
        if not getattr(block, name):
            raise Refused(missing(f"{path}.{name}"))
    if not given(block.input):
        raise Refused(missing(f"{path}.input"))
    if not bytes(block.input).lstrip().startswith(b"{"):
        raise Refused(invalid(f"{path}.input"))
    seen.texts.append(text(block.input))


def _result(path: str, block: Block, seen: Seen) -> None:
    if not block.tool_use_id:
        raise Refused(missing(f"{path}.tool_use_id"))
    _inner(f"{path}.content", block.content, seen)


def _inner(path: str, raw: Raw, seen: Seen) -> None:
    """Text or blocks inside a block."""
    if not given(raw):
        return
    try:
        content = BLOCKS.decode(raw)
    except msgspec.ValidationError:
        raise Refused(invalid(path)) from None
    if isinstance(content, str):
        seen.texts.append(content)
        return
    for place, inner in enumerate(content):
        check_block(f"{path}[{place}]", "user", inner, seen)


def _change(path: str, block: Block, seen: Seen) -> None:
    if not given(block.tool):
        raise Refused(missing(f"{path}.tool"))
    try:
        change = CHANGE.decode(block.tool)
    except msgspec.ValidationError:
        raise Refused(invalid(f"{path}.tool")) from None
    seen.texts.append(text(block.tool))
    seen.marks.add(CHANGED)
    if block.type == "tool_removal":
        return
    seen.needs.setdefault(Ability.TOOLS, path)
    if change.definition is not None:
        path, added = f"{path}.tool.definition", change.definition
        if (added.type or "").startswith(COSTLY_TOOLS):
            told = f"'{path}.type' is '{str(added.type)[:40]}', which only 'tools' may hold."
            raise Refused(problems.unsupported_content(f"{path}.type", told))
        own_tool(path, added)


def _media(path: str, block: Block, seen: Seen) -> None:
    source = source_of(path, block)
    if source.type == "text":
        seen.texts.append(source.data or "")
        return
    if source.type == "content":
        if _names_file(bytes(block.source)):
            seen.needs.setdefault(Ability.STORED, f"{path}.source.content")
        _inner(f"{path}.source.content", source.content, seen)
        return
    needed = {"base64": "data", "url": "url", "file": "file_id"}.get(source.type)
    if needed is not None and getattr(source, needed) is None:
        raise Refused(missing(f"{path}.source.{needed}"))
    if source.type == "base64" and source.media_type is None:
        raise Refused(missing(f"{path}.source.media_type"))
    if source.type == "url":
        if not (source.url or "").startswith(("https://", "http://")):
            told = f"Invalid value for '{path}.source.url': expected an http(s) URL."
            raise Refused(problems.invalid_value(f"{path}.source.url", told))
        seen.marks.add("remote_image" if block.type == "image" else "remote_file")
    if source.type == "file":
        seen.needs.setdefault(Ability.STORED, f"{path}.source.file_id")
    if block.type == "document":
        seen.other_length += measure_pdf(len(source.data or ""))
    seen.needs.setdefault(Ability.IMAGE if block.type == "image" else Ability.PDF, path)
    seen.media_count += 1


def _names_file(source: bytes) -> bool:
    """Whether a field anywhere in it is called `file_id`, in escapes too."""
    if b"\\u" in source:
        try:
            source = json.encode(json.decode(source))
        except json.BadJson:
            return True  # nobody can tell
    return b'"file_id"' in source


def source_of(path: str, block: Block) -> Source:
    """The source of a picture or document; raises Refused where it is none."""
    if not given(block.source):
        raise Refused(missing(f"{path}.source"))
    try:
        return SOURCE.decode(block.source)
    except msgspec.ValidationError:
        raise Refused(invalid(f"{path}.source")) from None


_CHECKS: Final[Mapping[str, Callable[[str, Block, Seen], None]]] = {
    "text": _words,
    "image": _media,
    "document": _media,
    "search_result": _search_result,
    "tool_use": _call,
    "tool_result": _result,
    "thinking": _thought,
    **dict.fromkeys(CHANGES, _change),
}
"""By type of block."""

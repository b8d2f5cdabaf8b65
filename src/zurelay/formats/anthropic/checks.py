"""Checks of a Messages request, and what they tell about it: needs, length, marks.

Shapes are checked here, not the order of turns: providers differ in what they allow, and say so.
Blocks of unknown types pass: a newer API may have them.
"""

from dataclasses import dataclass, field

import msgspec

from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE, measure, measure_pdf
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic import effort, envelope
from zurelay.formats.anthropic.invalid import ROLES, invalid, missing
from zurelay.formats.anthropic.turn_changes import CHANGES
from zurelay.formats.anthropic.view import BLOCKS, SOURCE, Block, Message, Request, Source
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.view import given, size, text
from zurelay.wire import json

LONGEST_USER = 512
LONGEST_TOOL_NAME = 128
_CHOICES = ("auto", "any", "tool", "none")
_THINKING = ("adaptive", "enabled", "disabled", "between_tools")
_OWN_TOOLS = (None, "custom")
COSTLY_TOOLS = ("web_search", "code_execution")
"""How types of tools begin that the provider runs for a fee (vendor's pricing page, 2026-11-29)."""

BILLING = "x-anthropic-billing-header"
"""How a system block of Claude Code begins that changes with each request."""


@dataclass(slots=True)
class Seen:
    """What a request held.

    Attributes:
        marks: `foreign_thinking` (none of Anthropic's own is signed so), `prefill` (the last turn
            is the assistant's), `remote_image`, `remote_file`.
        texts: of the prompt, which `measure` takes together.
        other_length: of what is no text to be measured, in the same unit.
    """

    needs: dict[Ability, str] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    other_length: int = 0
    media_count: int = 0
    opening: bytes = b""

    @property
    def text_length(self) -> int:
        """Length of all text, as `chat.estimate.measure` counts; worked out anew each time."""
        return measure(self.texts) + self.other_length


def conversation(view: Request, seen: Seen) -> None:
    """System prompt and messages."""
    if view.messages is None:
        raise Refused(missing("messages"))
    if not view.messages:
        raise Refused(invalid("messages", "an empty list"))
    system = _system(view.system, seen)
    opening = [text for text in system if not text.startswith(BILLING)]
    opened = False
    for place, message in enumerate(view.messages):
        if message.role not in ROLES:
            raise Refused(invalid(f"messages[{place}].role", f"'{message.role[:40]}'"))
        _message(f"messages[{place}].content", message, seen)
        if not opened and message.role != "assistant":
            opening.append(_text(message))
            opened = message.role == "user"
    seen.other_length += PER_MESSAGE * len(view.messages)
    if view.messages[-1].role == "assistant":
        seen.marks.add("prefill")
    seen.opening = "\x00".join(opening).encode()


def stored(view: Request, seen: Seen) -> None:
    """What refers to the account at the provider: containers and credentials of servers."""
    for name in ("container", "mcp_servers"):
        value = getattr(view, name)
        if given(value) and bytes(value) != b"[]":
            seen.needs.setdefault(Ability.STORED, name)


def _system(system: str | list[Block] | None, seen: Seen) -> list[str]:
    if isinstance(system, str):
        texts = [system]
    else:
        texts = []
        for place, block in enumerate(system or ()):
            if block.type == "text" and block.text is None:
                raise Refused(missing(f"system[{place}].text"))
            texts.append(block.text or "")
    seen.texts += texts
    return texts


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\x00".join(block.text or "" for block in message.content)


def _message(path: str, message: Message, seen: Seen) -> None:
    if isinstance(message.content, str):
        seen.texts.append(message.content)
        return
    if not message.content:
        raise Refused(invalid(path, "an empty list"))
    for place, block in enumerate(message.content):
        _block(f"{path}[{place}]", block, seen)


def _block(path: str, block: Block, seen: Seen) -> None:
    kind = block.type
    if kind == "text":
        if block.text is None:
            raise Refused(missing(f"{path}.text"))
        seen.texts.append(block.text)
    elif kind in ("image", "document"):
        _media(path, kind, block, seen)
    elif kind == "tool_use":
        _call(path, block, seen)
    elif kind == "tool_result":
        _result(path, block, seen)
    elif kind == "thinking":
        if block.thinking is None:
            raise Refused(missing(f"{path}.thinking"))
        seen.texts.append(block.thinking)
        if envelope.is_foreign(block.signature or ""):
            seen.marks.add("foreign_thinking")
    elif kind in CHANGES:
        seen.texts.append(text(block.tool))
        if kind == "tool_addition":
            seen.needs.setdefault(Ability.TOOLS, path)
    else:
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
    if not given(block.content):
        return
    try:
        content = BLOCKS.decode(block.content)
    except msgspec.ValidationError:
        raise Refused(invalid(f"{path}.content")) from None
    if isinstance(content, str):
        seen.texts.append(content)
        return
    for place, inner in enumerate(content):
        _block(f"{path}.content[{place}]", inner, seen)


def _media(path: str, kind: str, block: Block, seen: Seen) -> None:
    source = source_of(path, block)
    if source.type == "text":
        seen.texts.append(source.data or "")
        return
    if source.type == "content":
        seen.other_length += size(block.source)
        seen.marks.add("remote_image")  # its own blocks may hold one; whoever inlines looks
        if _names_file(bytes(block.source)):
            seen.needs.setdefault(Ability.STORED, f"{path}.source.content")
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
        seen.marks.add("remote_image" if kind == "image" else "remote_file")
    if source.type == "file":
        seen.needs.setdefault(Ability.STORED, f"{path}.source.file_id")
    if kind == "document":
        seen.other_length += measure_pdf(len(source.data or ""))
    seen.needs.setdefault(Ability.IMAGE if kind == "image" else Ability.PDF, path)
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


def options(view: Request, *, limited: bool = True) -> None:
    """Numbers, stop sequences, the caller's end user. `limited`: a token limit is required."""
    if view.max_tokens is None and limited:
        raise Refused(missing("max_tokens"))
    if view.max_tokens is not None and not 0 <= view.max_tokens < 1 << 53:
        raise Refused(invalid("max_tokens", str(view.max_tokens)[:40]))
    # Up to 2, as elsewhere: it is lowered for models that take less.
    if view.temperature is not None and not 0 <= view.temperature <= 2:
        raise Refused(invalid("temperature", str(view.temperature)))
    if view.top_p is not None and not 0 <= view.top_p <= 1:
        raise Refused(invalid("top_p", str(view.top_p)))
    if view.top_k is not None and view.top_k < 0:
        raise Refused(invalid("top_k", str(view.top_k)[:40]))
    for place, sequence in enumerate(view.stop_sequences or ()):
        if not sequence:
            raise Refused(invalid(f"stop_sequences[{place}]", "an empty string"))
    user = view.metadata.user_id if view.metadata else None
    if user is not None and len(user) > LONGEST_USER:
        raise Refused(invalid("metadata.user_id", f"{len(user)} characters"))


def tools(view: Request, seen: Seen) -> None:
    """Tools and the choice among them."""
    names = set()
    for place, tool in enumerate(view.tools or ()):
        kind = tool.type or ""
        seen.marks.update(one for one in COSTLY_TOOLS if kind.startswith(one))
        if not tool.name:
            if tool.type in _OWN_TOOLS:
                raise Refused(missing(f"tools[{place}].name"))
            continue
        names.add(tool.name)
        if tool.type not in _OWN_TOOLS:
            continue
        if len(tool.name) > LONGEST_TOOL_NAME:
            raise Refused(invalid(f"tools[{place}].name", f"{len(tool.name)} characters"))
        if tool.input_schema is None:
            raise Refused(missing(f"tools[{place}].input_schema"))
    if view.tools:
        seen.needs[Ability.TOOLS] = "tools"
    choice = view.tool_choice
    if choice is None:
        return
    if choice.type not in _CHOICES:
        raise Refused(invalid("tool_choice.type", f"'{choice.type[:40]}'"))
    if choice.type == "tool" and choice.name not in names:
        raise Refused(invalid("tool_choice.name", "another" if choice.name else "nothing"))
    if choice.type in ("any", "tool"):
        if not view.tools:
            told = "'tool_choice' can force a tool only with 'tools'."
            raise Refused(problems.invalid_value("tool_choice", told))
        seen.needs[Ability.FORCED_TOOL] = "tool_choice"


def output(view: Request, seen: Seen) -> str | None:
    """Thinking, effort and format; returns the effort that they ask for."""
    config, thinking = view.output_config, view.thinking
    if config is not None and config.format is not None:
        if config.format.type != "json_schema":
            got = f"'{config.format.type[:40]}'"
            raise Refused(invalid("output_config.format.type", got))
        if config.format.schema is None:
            raise Refused(missing("output_config.format.schema"))
        seen.needs[Ability.JSON_SCHEMA] = "output_config.format"
    if thinking is not None:
        if thinking.type not in _THINKING:
            raise Refused(invalid("thinking.type", f"'{thinking.type[:40]}'"))
        if thinking.type == "enabled":
            budget = thinking.budget_tokens
            if budget is None:
                raise Refused(missing("thinking.budget_tokens"))
            if budget < effort.LEAST_BUDGET:
                raise Refused(invalid("thinking.budget_tokens", str(budget)[:40]))
        if thinking.type == "disabled":
            return "none"
    if config is not None and config.effort is not None:
        return config.effort
    if thinking is not None and thinking.budget_tokens is not None:
        return effort.level_of_budget(thinking.budget_tokens)
    return None

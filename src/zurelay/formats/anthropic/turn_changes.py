"""What a request may change between its turns: the effort of one, and the tools from there on.

Anthropic knows these by betas of their own (Claude Code 2.1.332 and its SDK, 2026-11-30). Where
they are not taken, the tools that are in force at the end are those of the whole request, and the
effort of a turn is left out. Pure.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from zurelay.formats.base import Inbound, Target
from zurelay.wire import json

Json = dict[str, Any]

EFFORT = "per-turn-control-2026-07-01"
TOOLS = "mid-conversation-tool-changes-2026-07-01"
UPDATES = "thinking-display-updates-2026-08-18"

CHANGES = frozenset({"tool_addition", "tool_removal"})
"""Types of blocks, in messages of the system."""

CHANGED = "turn_changes"
"""Marks requests that change something between turns."""

_LIST = msgspec.json.Decoder(list[Raw])
_OBJECT = msgspec.json.Decoder(dict[str, Raw])


def in_force(tools: Iterable[Json], messages: Iterable[Json]) -> list[Json]:
    """The tools after all changes: those of the request, added ones last, without removed ones."""
    found: dict[object, Json] = {
        tool.get("name") or place: tool for place, tool in enumerate(tools)
    }
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] not in CHANGES or not isinstance(block.get("tool"), dict):
                continue
            if block["type"] == "tool_removal":
                found.pop(block["tool"].get("name"), None)
            elif _is_whole(block["tool"].get("definition")):
                found[block["tool"]["definition"]["name"]] = block["tool"]["definition"]
    return list(found.values())


def _is_whole(tool: object) -> bool:
    """Whether it is a definition; an addition by name speaks of a tool of the request."""
    if not isinstance(tool, dict):
        return False
    return isinstance(tool.get("name"), str) and isinstance(tool.get("input_schema"), dict)


def settle(fields: Json, inbound: Inbound, target: Target, dropped: list[str]) -> None:
    """Make a request legal where the target does not take a beta, or another effort than asked.

    Changes `fields`; messages that hold nothing of this keep their bytes.
    """
    if _lacks(target, UPDATES) and "thinking" in fields:
        thinking = _value(fields["thinking"])
        if thinking.get("display") == "updates":
            fields["thinking"] = {**thinking, "display": "summarized"}
            dropped.append("thinking.display")
    if CHANGED not in inbound.marks:
        return
    messages = fields["messages"]
    items: Sequence[Any] = messages if isinstance(messages, list) else _LIST.decode(messages)
    if _lacks(target, TOOLS):
        items = _unchanging(fields, items)
    asked = inbound.effort
    fields["messages"] = [_at_one_effort(item, asked, target, dropped) for item in items]


def _lacks(target: Target, beta: str) -> bool:
    return target.profile.betas is not None and beta not in target.profile.betas


def _value(found: Any) -> Any:
    return json.decode(found) if isinstance(found, Raw) else found


def _unchanging(fields: Json, items: Sequence[Any]) -> list[Any]:
    """The messages without changes of tools, which are carried out."""
    whole = [json.decode(json.encode(item)) for item in items]
    kept: list[Any] = []
    changed = False
    for item, message in zip(items, whole, strict=True):
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        rest = [block for block in blocks if block["type"] not in CHANGES]
        if len(rest) == len(blocks):
            kept.append(item)
            continue
        changed = True
        if rest:
            kept.append({**message, "content": rest})
    if changed:
        fields["tools"] = in_force(_value(fields.get("tools")) or (), whole)
    return kept


def _at_one_effort(item: Any, asked: str | None, target: Target, dropped: list[str]) -> Any:
    """The message with the effort in force for it, where the target takes one."""
    message = _OBJECT.decode(item) if isinstance(item, Raw) else item
    if "output_config" not in message:
        return item
    config = _value(message["output_config"])
    level, profile = target.effort, target.profile
    if _lacks(target, EFFORT) or profile.effort_form != "claude_effort" or level == "none":
        dropped.append("messages[].output_config")
        return {name: value for name, value in message.items() if name != "output_config"}
    if level is None or not config or config.get("effort") != asked or asked == level:
        return item
    return {**message, "output_config": {**config, "effort": level}}

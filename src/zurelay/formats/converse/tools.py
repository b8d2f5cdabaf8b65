"""Tools and their choice as Converse wants them. Rules: vendor's API reference, 2026-11-29."""

from collections.abc import Collection, Iterable
from typing import Any

from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Tool, ToolChoice
from zurelay.formats import schema
from zurelay.formats.base import Target
from zurelay.formats.converse import is_claude
from zurelay.formats.tool_names import legal_name

Json = dict[str, Any]

LONGEST_NAME = 64
NO_CALLS = "Answer without calling any tool."


class Tools:
    """What a request says of tools.

    Attributes:
        config: `toolConfig`, empty if there are no tools.
        fields: fields of the model's own beside it.
        lines: instructions in place of what cannot be said otherwise.
    """

    def __init__(self) -> None:
        self.config: Json = {}
        self.fields: Json = {}
        self.lines: list[str] = []


def write(
    asked: Request, target: Target, called: Collection[str], thinks: bool, dropped: list[str]
) -> Tools:
    """The tools of a request whose conversation has calls of `called`."""
    out = Tools()
    # A conversation with calls in it is refused without definitions: empty ones do.
    tools = [
        block
        for tool in asked.tools or map(Tool, called)
        for block in (_definition(tool, target), *cache_point(tool.cache, target.profile))
    ]
    if not tools:
        return out
    out.config = {"tools": tools}
    if asked.tools:
        _choose(asked, target, thinks, out, dropped)
        if out.lines == [NO_CALLS] and not called:
            out.config, out.lines = {}, []
    return out


def cache_point(lasting: str | None, profile: Profile) -> Iterable[Json]:
    """The breakpoint after a block. Only Claude takes those of the caller's choice everywhere."""
    if lasting and is_claude(profile):
        ttl = {"ttl": "1h"} if lasting == "1h" else {}
        yield {"cachePoint": {"type": "default", **ttl}}


def _definition(tool: Tool, target: Target) -> Json:
    spec: Json = {"name": legal_name(tool.name, LONGEST_NAME)}
    if tool.description:
        spec["description"] = tool.description
    parameters = schema.parameters(tool.parameters)
    if tool.strict and target.profile.strict_tools and not schema.recursive(parameters):
        parameters = schema.claude(parameters)
        spec["strict"] = True
    spec["inputSchema"] = {"json": parameters}
    return {"toolSpec": spec}


def _choose(asked: Request, target: Target, thinks: bool, out: Tools, dropped: list[str]) -> None:
    choice = asked.tool_choice or ToolChoice("auto")
    forced = choice.mode in ("required", "named")
    forcing = target.profile.forced_tools
    if forced and (forcing == "never" or (forcing == "not_thinking" and thinks)):
        dropped.append("tool_choice")
        out.lines.append(_call_line(choice))
        choice = ToolChoice("auto")
    alone = asked.parallel_tool_calls is False
    if is_claude(target.profile) and (choice.mode == "none" or alone):
        # Converse has neither; Claude's own field has both.
        out.fields["tool_choice"] = _claudes(choice, alone)
        return
    if alone:
        dropped.append("parallel_tool_calls")
    if choice.mode == "none":
        out.lines.append(NO_CALLS)
    elif choice.mode == "required":
        out.config["toolChoice"] = {"any": {}}
    elif choice.mode == "named":
        out.config["toolChoice"] = {"tool": {"name": _name(choice)}}


def _claudes(choice: ToolChoice, alone: bool) -> Json:
    if choice.mode == "none":
        return {"type": "none"}
    kind = {"auto": "auto", "required": "any", "named": "tool"}[choice.mode]
    name = {"name": _name(choice)} if choice.mode == "named" else {}
    return {"type": kind, **name, **({"disable_parallel_tool_use": True} if alone else {})}


def _name(choice: ToolChoice) -> str:
    return legal_name(choice.name or "", LONGEST_NAME)


def _call_line(choice: ToolChoice) -> str:
    if choice.mode == "named":
        return f"You must answer with a call of the tool `{_name(choice)}`."
    return "You must answer with a call of at least one of the tools."

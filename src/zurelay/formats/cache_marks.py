"""Prompt-cache breakpoints: read from what callers mark, and set where the operator asks for it.

Pure functions of the request. Of the gateway's own marks those at the end of the tools and of the
system prompt always stand, so their bytes stay; in a conversation that goes on its end is marked
too. At most four are set, as many as Claude takes in one request (vendor's page on prompt caching,
2026-11-29). Knows the words for a mark, not where a format puts its parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from zurelay.chat.parts import File, Image, Part, Text, ToolResult
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Turn

_LASTING = "5m"
_FEW_TURNS = 2


def lifetime(marked: Mapping[str, Any]) -> str | None:
    """How long the mark of a part, a tool or a whole request keeps: `5m` or `1h`; None without one.

    In Anthropic's words (`cache_control`) or OpenAI's (`prompt_cache_breakpoint`, whose half an
    hour is the lesser of the two, as its price is).
    """
    control = marked.get("cache_control")
    if isinstance(control, dict) and control.get("type") == "ephemeral":
        return "1h" if control.get("ttl") == "1h" else "5m"
    point = marked.get("prompt_cache_breakpoint")
    if isinstance(point, dict):
        return "1h" if point.get("ttl") == "12h" else "5m"
    return None


def written(part: Part, profile: Profile) -> dict[str, Any]:
    """The mark of a part, as a field for an upstream that speaks one of OpenAI's formats."""
    lasting = getattr(part, "cache", None)
    if lasting is None or profile.cache_marks == "none":
        return {}
    if profile.cache_marks == "prompt_cache_breakpoint":
        return {"prompt_cache_breakpoint": {"mode": "explicit"}}
    long = {"ttl": "1h"} if lasting == "1h" else {}
    return {"cache_control": {"type": "ephemeral", **long}}


def wanted(asked: Request, profile: Profile) -> bool:
    """Whether marks are to be set: the operator asks for it and the caller set none."""
    return profile.auto_cache and not _marked(asked)


def goes_on(asked: Request) -> bool:
    """Whether more turns are likely: a write costs more than a read saves unless they come."""
    return bool(asked.tools) or len(asked.turns) > _FEW_TURNS


def start_marked(asked: Request) -> Request:
    """`asked` with marks at the end of the tools and of the leading instructions."""
    tools = asked.tools
    if tools:
        tools = (*tools[:-1], replace(tools[-1], cache=_LASTING))
    turns = list(asked.turns)
    leading = 0
    while leading < len(turns) and turns[leading].role in ("system", "developer"):
        leading += 1
    for place in reversed(range(leading)):
        marked = _end_marked(turns[place])
        if marked is not None:
            turns[place] = marked
            break
    return replace(asked, tools=tools, turns=tuple(turns))


def end_marked(asked: Request) -> Request:
    """`asked` with marks at the end of its last two turns of the user's.

    The earlier one stands where the request before this one ended, and finds what that one wrote.
    """
    turns = list(asked.turns)
    for place in _ends_of_user(turns)[-2:]:
        turns[place] = _end_marked(turns[place]) or turns[place]
    return replace(asked, turns=tuple(turns))


def _marked(asked: Request) -> bool:
    if any(tool.cache for tool in asked.tools) or asked.extra.get("cache_control"):
        return True
    return any(getattr(part, "cache", None) for part in _parts(asked.turns))


def _parts(turns: Sequence[Turn]) -> list[Part]:
    found: list[Part] = []
    for turn in turns:
        for part in turn.parts:
            found += part.parts if isinstance(part, ToolResult) else ()
            found.append(part)
    return found


def _ends_of_user(turns: Sequence[Turn]) -> list[int]:
    """The last markable turn of each stretch of the user's: neighbours become one turn."""
    ends: list[int] = []
    same = False
    for place, turn in enumerate(turns):
        if turn.role == "assistant":
            same = False
        elif turn.role == "user" and _end_marked(turn) is not None:
            if same:
                ends.pop()
            ends.append(place)
            same = True
    return ends


def _end_marked(turn: Turn) -> Turn | None:
    """The turn with a mark after its last part that can carry one; None without such a part.

    Results go first in a turn, so a mark on one is taken only where nothing else is said.
    """
    marked = {place: new for place, part in enumerate(turn.parts) if (new := _mark(part))}
    if not marked:
        return None
    said = [place for place, part in marked.items() if not isinstance(part, ToolResult)]
    place = (said or [*marked])[-1]
    return replace(turn, parts=(*turn.parts[:place], marked[place], *turn.parts[place + 1 :]))


def _mark(part: Part) -> Part | None:
    if isinstance(part, Text):
        return replace(part, cache=_LASTING) if part.text.strip() else None  # blank is not sent
    if isinstance(part, Image | File | ToolResult):
        return replace(part, cache=_LASTING)
    return None

"""Checks of a request's top-level fields; each raises Refused with the path and what is right."""

from typing import Protocol

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.invalid import invalid, missing
from zurelay.formats.openai_chat.view import (
    MOST_TEMPERATURE,
    Request,
    ResponseFormat,
    Tool,
    ToolChoice,
)
from zurelay.formats.seen import Seen

MOST_STOPS = 4
MOST_ALTERNATIVES = 8
MOST_CHOICES = 128
LONGEST_USER = 256
LONGEST_TOOL_NAME = 128
_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512


def numbers(view: Request) -> None:
    """Ranges of numbers. The effort word is judged by who knows the model's levels."""
    for name in ("max_completion_tokens", "max_tokens"):
        value = getattr(view, name)
        if value is not None and not 1 <= value < 1 << 53:
            raise Refused(invalid(name, str(value)[:40]))
    if view.n is not None and not 1 <= view.n <= MOST_CHOICES:
        raise Refused(invalid("n", str(view.n)[:40]))
    if view.temperature is not None and not 0 <= view.temperature <= MOST_TEMPERATURE:
        raise Refused(invalid("temperature", str(view.temperature)))
    if view.top_p is not None and not 0 <= view.top_p <= 1:
        raise Refused(invalid("top_p", str(view.top_p)))


class Kept(Protocol):
    """What a request says of itself to the gateway alone."""

    user: str | None
    metadata: dict[str, str] | None
    safety_identifier: str | None


def stays_here(view: Kept) -> None:
    """Fields that the gateway keeps: user, metadata, safety identifier."""
    if view.user is not None and len(view.user) > LONGEST_USER:
        raise Refused(invalid("user", f"{len(view.user)} characters"))
    identifier = view.safety_identifier
    if identifier is not None and len(identifier) > LONGEST_USER:
        raise Refused(invalid("safety_identifier", f"{len(identifier)} characters"))
    pairs = view.metadata
    if pairs is None:
        return
    if len(pairs) > _PAIRS:
        raise Refused(invalid("metadata", f"{len(pairs)} pairs"))
    for key, value in pairs.items():
        if len(key) > _LONGEST_KEY:
            raise Refused(invalid("metadata", f"a key of {len(key)} characters"))
        if len(value) > _LONGEST_VALUE:
            raise Refused(invalid("metadata", f"a value of {len(value)} characters"))


def alternatives(models: list[str] | None) -> tuple[str, ...] | None:
    """`models` without repeats; None when left out."""
    if models is None:
        return None
    if len(models) > MOST_ALTERNATIVES:
        raise Refused(
            problems.invalid_value(
                f"models[{MOST_ALTERNATIVES}]",
                f"'models' takes at most {MOST_ALTERNATIVES} ids, but got {len(models)}.",
            )
        )
    for place, model in enumerate(models):
        if not model:
            raise Refused(invalid(f"models[{place}]", "an empty string"))
    return tuple(dict.fromkeys(models))


def stops(stop: str | list[str] | None, marks: set[str]) -> tuple[str, ...]:
    """The stop sequences. Empty ones ask for nothing and are left out; marked as `empty_stop`."""
    if stop is None:
        return ()
    given = [stop] if isinstance(stop, str) else stop
    if len(given) > MOST_STOPS:
        raise Refused(
            problems.invalid_value(
                f"stop[{MOST_STOPS}]",
                f"'stop' takes at most {MOST_STOPS} sequences, but got {len(given)}.",
            )
        )
    kept = tuple(sequence for sequence in given if sequence)
    if len(kept) < len(given):
        marks.add("empty_stop")
    return kept


def tools(view: Request, seen: Seen) -> None:
    """Tools and the choice among them."""
    names: dict[str, set[str]] = {"function": set(), "custom": set()}
    for place, tool in enumerate(view.tools or ()):
        names[tool.type if tool.type in names else "function"].add(
            _tool(f"tools[{place}]", tool, seen)
        )
    if view.tools:
        seen.needs[Ability.TOOLS] = "tools"
    choice = view.tool_choice
    if choice is None or choice in ("none", "auto"):
        return
    if isinstance(choice, str):
        if choice != "required":
            raise Refused(invalid("tool_choice", f"'{choice[:40]}'"))
    elif choice.type == "allowed_tools":
        if choice.allowed_tools is None:
            raise Refused(missing("tool_choice.allowed_tools"))
        return
    else:
        _named(choice, names)
    if not view.tools:
        raise Refused(
            problems.invalid_value(
                "tool_choice", "'tool_choice' can force a tool only with 'tools'."
            )
        )
    seen.needs[Ability.FORCED_TOOL] = "tool_choice"


def _tool(path: str, tool: Tool, seen: Seen) -> str:
    if tool.type not in ("function", "custom"):
        raise Refused(invalid(f"{path}.type", f"'{tool.type[:40]}'"))
    definition = tool.function if tool.type == "function" else tool.custom
    if definition is None:
        raise Refused(missing(f"{path}.{tool.type}"))
    if not 1 <= len(definition.name) <= LONGEST_TOOL_NAME:
        got = f"{len(definition.name)} characters"
        raise Refused(invalid(f"{path}.{tool.type}.name", got))
    if tool.function is not None and tool.function.strict is not None:
        seen.marks.add("strict")
    return definition.name


def _named(choice: ToolChoice, names: dict[str, set[str]]) -> None:
    if choice.type not in names:
        raise Refused(invalid("tool_choice.type", f"'{choice.type[:40]}'"))
    named = choice.function if choice.type == "function" else choice.custom
    if named is None:
        raise Refused(missing(f"tool_choice.{choice.type}"))
    if named.name not in names[choice.type]:
        raise Refused(
            problems.invalid_value(
                f"tool_choice.{choice.type}.name",
                f"'tool_choice.{choice.type}.name' must be the name of one of 'tools'.",
            )
        )


def answer_format(wanted: ResponseFormat | None, seen: Seen) -> None:
    """`response_format`."""
    if wanted is None:
        return
    if wanted.type not in ("text", "json_object", "json_schema"):
        raise Refused(invalid("response_format.type", f"'{wanted.type[:40]}'"))
    if wanted.type == "json_schema":
        if wanted.json_schema is None:
            raise Refused(missing("response_format.json_schema"))
        seen.needs[Ability.JSON_SCHEMA] = "response_format"

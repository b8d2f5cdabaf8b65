"""Checks of a Responses request's other fields; each raises Refused with the path."""

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.checks import LONGEST_TOOL_NAME
from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_responses.conversation import WHOLE_HISTORY, Seen
from zurelay.formats.openai_responses.invalid import invalid, missing
from zurelay.formats.openai_responses.toolbox import NAMESPACE
from zurelay.formats.openai_responses.view import Request, Tool, ToolChoice

TOOL_TYPES = ("function", "custom")
_VERBOSITIES = ("low", "medium", "high")
_MOST_LOGPROBS = 20


def stateless(view: Request) -> None:
    """Nothing is kept between requests, so nothing can be built on what was."""
    if view.previous_response_id is not None:
        raise Refused(_kept("previous_response_id", "No earlier response is stored."))
    if given(view.conversation):
        raise Refused(_kept("conversation", "No conversation is stored."))
    if view.background:
        raise Refused(_kept("background", "Answers are not kept to be fetched later."))
    if given(view.prompt):
        told = "No prompt is stored here; send its text as 'instructions' and 'input'."
        raise Refused(problems.unsupported_content("prompt", told))


def _kept(param: str, why: str) -> problems.Problem:
    told = f"'{param}' is not supported. {why} {WHOLE_HISTORY}"
    return problems.unsupported_content(param, told)


def numbers(view: Request) -> None:
    """Ranges of numbers and words. The effort word is judged by who knows the model's levels."""
    limit = view.max_output_tokens
    if limit is not None and not 1 <= limit < 1 << 53:
        raise Refused(invalid("max_output_tokens", str(limit)[:40]))
    if view.temperature is not None and not 0 <= view.temperature <= 2:
        raise Refused(invalid("temperature", str(view.temperature)))
    if view.top_p is not None and not 0 <= view.top_p <= 1:
        raise Refused(invalid("top_p", str(view.top_p)))
    if view.top_logprobs is not None and not 0 <= view.top_logprobs <= _MOST_LOGPROBS:
        raise Refused(invalid("top_logprobs", str(view.top_logprobs)[:40]))
    if view.truncation not in (None, "auto", "disabled"):
        raise Refused(invalid("truncation", f"'{view.truncation[:40]}'"))


def tools(view: Request, seen: Seen) -> None:
    """Tools, those that the input brings too, and the choice among them."""
    names: dict[str, set[str]] = {kind: set() for kind in TOOL_TYPES}
    spaces: set[str] = set()
    tools = [(f"tools[{place}]", tool) for place, tool in enumerate(view.tools or ())] + seen.tools
    for path, tool in tools:
        if tool.type != NAMESPACE:
            _note(path, tool, names)
            continue
        spaces.add(_name(path, tool))
        for place, inner in enumerate(tool.tools or ()):
            _note(f"{path}.tools[{place}]", inner, names)
    if tools:
        seen.needs[Ability.TOOLS] = "tools" if view.tools else tools[0][0]
    choice = view.tool_choice
    if choice is None or choice in ("none", "auto"):
        return
    if isinstance(choice, str):
        if choice != "required":
            raise Refused(invalid("tool_choice", f"'{choice[:40]}'"))
    elif choice.type == "allowed_tools":
        _allowed(choice, spaces.union(*names.values()))
        if choice.mode != "required":
            return
    elif choice.type not in names:
        raise Refused(invalid("tool_choice.type", f"'{choice.type[:40]}'"))
    elif choice.name not in names[choice.type]:
        raise Refused(invalid("tool_choice.name", "another" if choice.name else "nothing"))
    if not tools:
        told = "'tool_choice' can force a tool only with 'tools'."
        raise Refused(problems.invalid_value("tool_choice", told))
    seen.needs[Ability.FORCED_TOOL] = "tool_choice"


def _note(path: str, tool: Tool, names: dict[str, set[str]]) -> None:
    if tool.type not in names:
        told = (
            f"'{path}' is of type '{tool.type[:40]}', which a provider runs itself; only tools of "
            "type 'function' and 'custom' are supported."
        )
        raise Refused(problems.unsupported_content(f"{path}.type", told))
    names[tool.type].add(_name(path, tool))


def _name(path: str, tool: Tool) -> str:
    if tool.name is None:
        raise Refused(missing(f"{path}.name"))
    if not 1 <= len(tool.name) <= LONGEST_TOOL_NAME:
        raise Refused(invalid(f"{path}.name", f"{len(tool.name)} characters"))
    return tool.name


def _allowed(choice: ToolChoice, known: set[str]) -> None:
    if choice.mode not in (None, "auto", "required"):
        raise Refused(invalid("tool_choice.mode", f"'{choice.mode[:40]}'"))
    if not choice.tools:
        raise Refused(missing("tool_choice.tools"))
    for place, tool in enumerate(choice.tools):
        if tool.name not in known:
            path = f"tool_choice.tools[{place}].name"
            told = f"'{path}' must be the name of one of 'tools'."
            raise Refused(problems.invalid_value(path, told))


def text(view: Request, seen: Seen) -> None:
    """The form of the answer's text."""
    if view.text is None:
        return
    verbosity, wanted = view.text.verbosity, view.text.format
    if verbosity is not None and verbosity not in _VERBOSITIES:
        raise Refused(invalid("text.verbosity", f"'{verbosity[:40]}'"))
    if wanted is None or wanted.type in ("text", "json_object"):
        return
    if wanted.type != "json_schema":
        raise Refused(invalid("text.format.type", f"'{wanted.type[:40]}'"))
    if not wanted.name:
        raise Refused(missing("text.format.name"))
    if wanted.schema is None:
        raise Refused(missing("text.format.schema"))
    seen.needs[Ability.JSON_SCHEMA] = "text.format"

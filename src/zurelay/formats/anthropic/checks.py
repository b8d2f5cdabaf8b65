"""Checks of a Messages request, and what they tell about it: needs, length, marks.

Shapes are checked here, not the order of turns: providers differ in what they allow, and say so.
"""

from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic import effort
from zurelay.formats.anthropic.block_checks import COSTLY_TOOLS, check_block, own_tool
from zurelay.formats.anthropic.invalid import ROLES, invalid, missing
from zurelay.formats.anthropic.turn_changes import CHANGED
from zurelay.formats.anthropic.view import Block, Message, Request
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat.view import given
from zurelay.formats.seen import Seen

LONGEST_USER = 512
_CHOICES = ("auto", "any", "tool", "none")
_THINKING = ("adaptive", "enabled", "disabled", "between_tools")
BILLING = "x-anthropic-billing-header"
"""How a system block of Claude Code begins that changes with each request."""


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
        if message.output_config is not None:
            seen.marks.add(CHANGED)
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
        check_block(f"{path}[{place}]", message.role, block, seen)


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
        own_tool(f"tools[{place}]", tool)
        if tool.name:
            names.add(tool.name)
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

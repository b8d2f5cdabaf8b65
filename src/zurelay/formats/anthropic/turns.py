"""Turns in the order that this format insists on, written from the neutral form.

User and assistant take turns, the first is the user's; all results of an assistant's calls stand at
the start of the very next user turn. A pure function; a longer conversation starts with the blocks
of the shorter one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zurelay.chat import problems
from zurelay.chat.parts import RefusalText, Text, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import Turn
from zurelay.formats.anthropic import blocks
from zurelay.formats.anthropic.blocks import Block

Json = dict[str, Any]

_INSTRUCTIONS = ("system", "developer")
_NOTHING = "."
"""Stands where a turn must say something and has nothing to say; blank text is a 400."""

NO_RESULT = "No result was given."
"""The result of a call that was never answered, because the turn was interrupted."""


@dataclass(slots=True)
class _Message:
    role: str
    blocks: list[Block] = field(default_factory=list)
    results: list[Block] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """What the turns came to.

    Attributes:
        system: text blocks of the system prompt.
        messages: as the format writes them.
        bare_calls: calls are being answered whose turn does not begin with thinking.
        prefill: it ends with a turn of the assistant's.
    """

    system: list[Block]
    messages: list[Json]
    bare_calls: bool = False
    prefill: bool = False


def write(turns: Sequence[Turn], profile: Profile) -> Conversation:
    """The conversation; raises Refused where a part has no place."""
    first = _leading(turns)
    system = [block for turn in turns[:first] for block in _said(turn, profile)]
    messages = _merged(turns[first:], profile)
    if not messages or messages[0].role != "user":
        messages.insert(0, _Message("user"))
    _answer_calls(messages)
    for message in messages:
        if not message.blocks and not message.results:
            message.blocks.append({"type": "text", "text": _NOTHING})
    last = messages[-1]
    if last.role == "assistant":
        _prefill(last, profile)
    return Conversation(
        system,
        [
            {"role": message.role, "content": message.results + message.blocks}
            for message in messages
        ],
        bare_calls=_bare_calls(messages),
        prefill=last.role == "assistant",
    )


def add_line(conversation: Conversation, text: str, profile: Profile) -> None:
    """An instruction of our own, after all that the caller said."""
    last = conversation.messages[-1]
    if last["role"] == "assistant":
        conversation.system.append({"type": "text", "text": text})
    elif profile.late_system:
        if last["role"] != "system":
            last = {"role": "system", "content": []}
            conversation.messages.append(last)
        last["content"].append({"type": "text", "text": text})
    else:
        last["content"].append({"type": "text", "text": _tagged(text)})


def mark_end(conversation: Conversation, control: Json) -> None:
    """Mark the last block that may carry a breakpoint with `control`."""
    content = conversation.messages[-1]["content"]
    if content[-1]["type"] not in ("thinking", "redacted_thinking"):
        content[-1] = {**content[-1], **control}


def _leading(turns: Sequence[Turn]) -> int:
    for place, turn in enumerate(turns):
        if turn.role not in _INSTRUCTIONS:
            return place
    return len(turns)


def _tagged(text: str) -> str:
    return f"<system>{text}</system>"


def _said(turn: Turn, profile: Profile) -> list[Block]:
    """The text of an instruction."""
    texts = [part for part in turn.parts if isinstance(part, Text)]
    return [block for part in texts for block in blocks.text(part, profile)]


def _merged(turns: Sequence[Turn], profile: Profile) -> list[_Message]:
    messages: list[_Message] = []
    for place, turn in enumerate(turns):
        if turn.role in _INSTRUCTIONS:
            _late(turn, _next_role(turns, place), messages, profile)
        elif turn.role == "assistant":
            _assistant(turn, messages, profile)
        else:
            _user(turn, _at_end(messages, "user"), profile)
    return messages


def _at_end(messages: list[_Message], role: str) -> _Message:
    """The last message if it is of `role`, else a new one."""
    if not messages or messages[-1].role != role:
        messages.append(_Message(role))
    return messages[-1]


def _next_role(turns: Sequence[Turn], place: int) -> str:
    """Who speaks after the instructions at `place`; the assistant if nobody has yet."""
    return next((t.role for t in turns[place:] if t.role not in _INSTRUCTIONS), "assistant")


def _late(turn: Turn, then: str, messages: list[_Message], profile: Profile) -> None:
    """An instruction between turns: legal as an entry only before the assistant speaks."""
    said = _said(turn, profile)
    if not said:
        return
    if profile.late_system and then == "assistant" and messages[-1].role != "assistant":
        _at_end(messages, "system").blocks.extend(said)
        return
    into = _at_end(messages, "user").blocks
    into.extend({**block, "text": _tagged(block["text"])} for block in said)


def _assistant(turn: Turn, messages: list[_Message], profile: Profile) -> None:
    written = [block for part in turn.parts for block in blocks.of_assistant(part, profile)]
    if not any(block["type"] not in ("thinking", "redacted_thinking") for block in written):
        return  # a turn that said nothing; thinking alone is a 400
    message = _at_end(messages, "assistant")
    message.blocks += written
    message.calls += [block["id"] for block in written if block["type"] == "tool_use"]


def _user(turn: Turn, message: _Message, profile: Profile) -> None:
    aside: list[Block] = []
    rest: list[Block] = []
    for part in turn.parts:
        if isinstance(part, ToolResult):
            block, pictures = blocks.result(part, profile)
            message.results.append(block)
            aside += pictures
        elif not isinstance(part, RefusalText):
            rest += blocks.of_user(part, profile)
    message.blocks += aside + rest


def _answer_calls(messages: list[_Message]) -> None:
    """Give each call one result, in the order of the calls; a result without a call is told."""
    place = 0
    while place < len(messages):
        message = messages[place]
        if message.role == "assistant" and message.calls:
            if place + 1 == len(messages) or messages[place + 1].role != "user":
                messages.insert(place + 1, _Message("user"))
            _match(message.calls, messages[place + 1])
        elif message.results and (place == 0 or not messages[place - 1].calls):
            _match([], message)
        place += 1


def _match(calls: Sequence[str], message: _Message) -> None:
    given: dict[str, Block] = {}
    lost: list[Block] = []
    for block in message.results:
        call_id = block["tool_use_id"]
        if call_id in calls and call_id not in given:
            given[call_id] = block
        else:
            lost += _told(block)
    message.results = [given.get(call_id) or _unanswered(call_id) for call_id in calls]
    message.blocks[:0] = lost


def _unanswered(call_id: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": NO_RESULT, "is_error": True}


def _told(block: Block) -> list[Block]:
    """A result whose call is gone, as plain content."""
    content = block.get("content", [])
    inside = [{"type": "text", "text": content}] if isinstance(content, str) else content
    head = f"Result of the earlier tool call {block['tool_use_id']}:"
    return [{"type": "text", "text": head}, *inside]


def _prefill(last: _Message, profile: Profile) -> None:
    if not profile.prefill:
        told = (
            "This model cannot go on with an assistant's turn: the last message must be the "
            "user's or a tool's."
        )
        raise Refused(problems.invalid_value("messages", told))
    block = last.blocks[-1]
    if block["type"] == "text":
        last.blocks[-1] = {**block, "text": block["text"].rstrip()}  # else a 400


def _bare_calls(messages: Sequence[_Message]) -> bool:
    """Whether the calls being answered now stand in a turn that does not begin with thinking."""
    if len(messages) < 2 or not messages[-1].results:
        return False
    before = next((m for m in reversed(messages[:-1]) if m.role == "assistant"), None)
    return before is not None and before.blocks[0]["type"] not in (
        "thinking",
        "redacted_thinking",
    )

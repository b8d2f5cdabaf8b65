"""JSON by a schema from models without a mode for it: a forced call whose arguments are the answer.

The caller asked for text and gets text: the call is written into the request here, and taken out of
the answer again. Knows no wire format.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from zurelay.chat.events import Event, Reply, Stopped, TextDelta, ToolCallDelta, ToolCallStarted
from zurelay.chat.faults import Fault
from zurelay.chat.parts import Part, Text, ToolCall
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request, Tool, ToolChoice
from zurelay.formats import schema
from zurelay.formats.base import AnswerContext
from zurelay.formats.translate import Events

NAME = "json_answer"


class _Reader(Protocol):
    def read(self, data: bytes) -> Events: ...

    def close(self) -> Events: ...


def instead(asked: Request, profile: Profile, thinks: bool) -> Request | None:
    """The request with a forced call in place of its format. `thinks`: the model may think.

    None where the format is native or none, and where a call cannot be forced: beside the caller's
    own tools, on models that refuse it, and while thinking.
    """
    wanted = asked.answer_format
    if wanted is None or wanted.schema is None or wanted.schema.get("type") != "object":
        return None
    if profile.json_schema == "schema" and not schema.recursive(wanted.schema):
        return None
    if asked.tools or thinks or profile.forced_tools == "never":
        return None
    told = wanted.description or "Gives the answer. Its arguments are the whole answer."
    return replace(
        asked,
        answer_format=None,
        tools=(Tool(NAME, told, wanted.schema),),
        tool_choice=ToolChoice("named", NAME),
        parallel_tool_calls=None,
    )


class AnswerReader:
    """Reads an upstream's stream, the call's arguments as text.

    See `formats.translate.EventReader`. Only the first call is the answer; a model that says it
    twice is heard once.
    """

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._calls: dict[int, int] = {}  # choice -> the call that is its answer
        self._aside: dict[int, list[Event]] = {}  # words that hold only where no call comes

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        return self._unwrapped(self._reader.read(data))

    def close(self) -> Events:
        """The upstream's bytes are over."""
        return self._unwrapped(self._reader.close())

    def _unwrapped(self, batch: Events) -> Events:
        events = [event for one in batch.events for event in self._one(one)]
        return replace(batch, events=events)

    def _one(self, event: Event) -> Iterable[Event]:
        match event:
            case ToolCallStarted(index, choice=choice):
                self._calls.setdefault(choice, index)
                self._aside.pop(choice, None)
            case ToolCallDelta(index, arguments, choice):
                if self._calls.get(choice) == index:
                    yield TextDelta(arguments, choice)
            case TextDelta(choice=choice):
                if choice not in self._calls:
                    self._aside.setdefault(choice, []).append(event)
            case Stopped(reason, choice, sequence):
                yield from self._aside.pop(choice, ())
                yield Stopped("stop" if reason == "tool_calls" else reason, choice, sequence)
            case _:
                yield event


def unwrapped(reply: Reply | Fault, context: AnswerContext) -> Reply | Fault:
    """A plain answer with the call's arguments as its text; words around them are left out.

    Any other answer stays as it is.
    """
    if isinstance(reply, Fault) or not context.json_call:
        return reply
    choices = []
    for choice in reply.choices:
        call = next((part for part in choice.parts if isinstance(part, ToolCall)), None)
        if call is None:
            choices.append(choice)
            continue
        said: list[Part] = [part for part in choice.parts if not isinstance(part, ToolCall | Text)]
        reason = "stop" if choice.finish_reason == "tool_calls" else choice.finish_reason
        parts = (*said, Text(call.arguments))
        choices.append(replace(choice, parts=parts, finish_reason=reason))
    return replace(reply, choices=tuple(choices))

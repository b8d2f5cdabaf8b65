"""Folds neutral events into the plain answer that they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from zurelay.chat.estimate import weight
from zurelay.chat.events import (
    Choice,
    Event,
    FinishReason,
    RefusalDelta,
    Reply,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.parts import Part, RefusalText, Text, Thinking, ToolCall
from zurelay.chat.usage import Usage
from zurelay.formats.stop_text import StopCutter


@dataclass(slots=True)
class _Open:
    parts: list[Part] = field(default_factory=list)
    calls: dict[int, int] = field(default_factory=dict)  # call index -> place in parts
    reason: FinishReason = "stop"
    sequence: str | None = None


class EventFold:
    """Takes events one by one; gives the reply they make.

    Attributes:
        usage: the last count that came; None if none did.
        delivered: length of everything in it, as `chat.estimate.weight` counts.
        nothing: it ended well and holds nothing; known after `reply`.
    """

    def __init__(self) -> None:
        self._choices: dict[int, _Open] = {}
        self.usage: Usage | None = None
        self.delivered = 0
        self.nothing = False

    @classmethod
    def of(cls, reply: Reply) -> "EventFold":
        """The fold whose reply is `reply`."""
        fold = cls()
        fold.usage = reply.usage
        for index, choice in enumerate(reply.choices):
            fold._choices[index] = _Open(
                list(choice.parts), {}, choice.finish_reason, choice.sequence
            )
        return fold

    def add(self, event: Event) -> None:
        """One more event."""
        if isinstance(event, UsageSeen):
            self.usage = event.usage
            return
        if isinstance(event, ThinkingStarted):
            return
        choice = 0 if isinstance(event, ThinkingSigned) else event.choice
        whole = self._choices.setdefault(choice, _Open())
        match event:
            case Stopped(reason, sequence=sequence):
                whole.reason = reason
                whole.sequence = sequence
            case ToolCallStarted(index, call_id, name):
                whole.calls[index] = len(whole.parts)
                whole.parts.append(ToolCall(call_id, name, ""))
            case ToolCallDelta(index, arguments):
                _grow_call(whole, index, arguments)
            case ThinkingSigned():
                _sign(whole.parts, event)
            case TextDelta() | ThinkingDelta() | RefusalDelta():
                _grow_text(whole.parts, event)

    def reply(self, stops: Sequence[str] = ()) -> Reply:
        """The whole answer with its count, its text cut at `stops`."""
        cut = False
        choices = []
        self.delivered = 0
        for index in sorted(self._choices):
            whole = self._choices[index]
            parts, matched = _cut(whole.parts, stops)
            stopped = matched is not None
            cut |= stopped
            reason = "stop" if stopped else whole.reason
            choices.append(Choice(parts, reason, matched or whole.sequence))
            self.delivered += sum(_length(part) for part in parts)
        self.nothing = (
            not cut
            and not any(choice.parts for choice in choices)
            and all(choice.finish_reason == "stop" for choice in choices)
        )
        return Reply(tuple(choices), self.usage)


def _grow_text(parts: list[Part], event: TextDelta | ThinkingDelta | RefusalDelta) -> None:
    last = parts[-1] if parts else None
    if isinstance(event, TextDelta):
        new: Part = Text(event.text)
        grows = isinstance(last, Text)
    elif isinstance(event, ThinkingDelta):
        new = Thinking(event.text)
        grows = isinstance(last, Thinking) and last.signature is None
    else:
        new = RefusalText(event.text)
        grows = isinstance(last, RefusalText)
    if grows and isinstance(last, Text | Thinking | RefusalText):
        parts[-1] = replace(last, text=last.text + event.text)
    else:
        parts.append(new)


def _grow_call(whole: _Open, index: int, arguments: str) -> None:
    place = whole.calls[index]
    call = whole.parts[place]
    if isinstance(call, ToolCall):
        whole.parts[place] = replace(call, arguments=call.arguments + arguments)


def _sign(parts: list[Part], event: ThinkingSigned) -> None:
    last = parts[-1] if parts else None
    signed = Thinking("", event.signature, event.origin, event.redacted, event.call_id)
    if isinstance(last, Thinking) and last.signature is None and not event.redacted:
        parts[-1] = replace(signed, text=last.text)
    else:
        parts.append(signed)


def _cut(parts: Sequence[Part], stops: Sequence[str]) -> tuple[tuple[Part, ...], str | None]:
    """The parts up to a stop sequence, and which it was."""
    if not stops:
        return tuple(parts), None
    cutter = StopCutter(stops)
    out: list[Part] = []
    for part in parts:
        if not isinstance(part, Text):
            out.append(part)
            continue
        text = cutter.push(part.text)
        text += "" if cutter.stopped else cutter.flush()
        if text:
            out.append(replace(part, text=text))
        if cutter.stopped:
            return tuple(out), cutter.matched
    return tuple(out), None


def _length(part: Part) -> int:
    if isinstance(part, Text | Thinking | RefusalText):
        return weight(part.text)
    return weight(part.arguments) if isinstance(part, ToolCall) else 0

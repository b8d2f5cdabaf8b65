"""Exchanges between different formats, through the neutral form in `chat`.

One class joins any front to any back: the front reads requests and writes answers, the back writes
requests and reads answers. What every answer needs, whatever its format, stands here once: stop
sequences the upstream was not given, empty answers, estimates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, runtime_checkable

import msgspec

from zurelay.chat.estimate import estimated, weight
from zurelay.chat.events import (
    Choice,
    Event,
    RefusalDelta,
    Reply,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.parts import Text, ToolCall
from zurelay.chat.problems import Problem, Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request
from zurelay.chat.usage import Usage
from zurelay.formats.base import (
    AnswerContext,
    FailingStream,
    Inbound,
    Outbound,
    Progress,
    Target,
    WholeAnswer,
)
from zurelay.formats.fences import FenceStripper, stripped
from zurelay.formats.fold import EventFold
from zurelay.formats.stop_text import StopCutter
from zurelay.wire import json

_Told = TypeVar("_Told", Fault, Problem)
_TOKENS = (TextDelta, ThinkingDelta, RefusalDelta, ToolCallStarted, ToolCallDelta)


@dataclass(slots=True)
class Events:
    """What one piece of upstream bytes came to: events, signs of life, the end or a fault."""

    events: list[Event] = field(default_factory=list)
    alive: bool = False
    ended: bool = False
    fault: Fault | None = None


class EventReader(Protocol):
    """Reads an upstream's stream. Pure; one per attempt."""

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        ...

    def close(self) -> Events:
        """The bytes are over; an answer that is not whole is a fault here."""
        ...


class EventWriter(Protocol):
    """Writes the caller's stream. Pure; one per attempt."""

    def write(self, events: Sequence[Event]) -> bytes:
        """Whole events of the caller's format."""
        ...

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        ...


class Back(Protocol):
    """A format upstreams speak."""

    name: str

    def write(self, asked: Request, target: Target) -> Outbound:
        """The upstream request; raises Refused where it cannot be written."""
        ...

    def reader(self, context: AnswerContext) -> EventReader:
        """A reader for an event stream."""
        ...

    def reply(self, body: bytes, context: AnswerContext) -> Reply | Fault:
        """Read a plain answer."""
        ...

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        ...


class HubFront(Protocol):
    """A format callers speak, as far as translation needs it."""

    name: str

    def request(self, inbound: Inbound) -> Request:
        """The caller's request in neutral form."""
        ...

    def writer(self, context: AnswerContext) -> EventWriter:
        """A writer for an event stream."""
        ...

    def reply(self, reply: Reply, usage: Usage, context: AnswerContext) -> bytes:
        """A plain answer."""
        ...


@runtime_checkable
class NamingFront(Protocol):
    """A front whose fields have other names than those of Chat Completions.

    Attributes:
        words: path of Chat Completions, the common words of all formats -> path here.
    """

    words: Mapping[str, str]


class TranslatingExchange:
    """See `formats.base.Exchange`."""

    def __init__(self, front: HubFront, back: Back) -> None:
        self._front = front
        self._back = back
        self._words = front.words if isinstance(front, NamingFront) else {}

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request."""
        asked = self._front.request(inbound)  # refuses in the caller's words itself
        try:
            out = self._back.write(asked, target)
        except Refused as refused:
            raise Refused(self._in_own_words(refused.problem)) from None
        if not self._words or not out.dropped:
            return out
        dropped = tuple(dict.fromkeys(self._words.get(name, name) for name in out.dropped))
        return msgspec.structs.replace(out, dropped=dropped)

    def stream(self, context: AnswerContext) -> "TranslatedStream":
        """A reader for an event stream that answers a streaming request."""
        return TranslatedStream(self._back, context, self._front.writer(context))

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read a plain answer to a plain request."""
        reply = self._back.reply(body, context)
        if isinstance(reply, Fault):
            return WholeAnswer(usage=reply.usage, fault=reply)
        fold = EventFold.of(reply)
        return _whole(self._front, context, fold, usage or reply.usage)

    def assembler(self, context: AnswerContext) -> "TranslatedAssembler":
        """A reader for an event stream that answers a plain request."""
        return TranslatedAssembler(self._back, context, self._front)

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        return self._in_own_words(self._back.fault(status, headers, body, now, profile))

    def _in_own_words(self, told: _Told) -> _Told:
        """Places among messages are not places among another format's items."""
        param = told.param or ""
        own = self._words.get("messages" if param.startswith("messages[") else param)
        return told if own is None else replace(told, param=own)


class _Answer:
    """An upstream's answer as events, with all that does not depend on the caller's format."""

    def __init__(self, back: Back, context: AnswerContext) -> None:
        self._context = context
        # Sequences are cut here, for every back alike.
        self._reader = back.reader(msgspec.structs.replace(context, stop=()))
        self._cutters: dict[int, StopCutter] = {}
        self._fences: dict[int, FenceStripper] = {}
        self._open: set[int] = set()
        self._done: dict[int, str] = {}
        self._token = False
        self._finished = False
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.delivered_length = 0

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        return self._take(self._reader.read(chunk))

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        batch = self._reader.close()
        progress = self._take(batch)
        if progress.fault is None and not self._done:
            kind = FaultKind.BROKE_OFF if self._token else FaultKind.EMPTY
            progress.fault = Fault(kind, "no finish reason came", status=200)
        return progress

    def _take(self, batch: Events) -> Progress:
        events = [out for event in batch.events for out in self._note(event)]
        progress = Progress(alive=batch.alive, ended=batch.ended, fault=batch.fault)
        progress.token = any(isinstance(event, _TOKENS) for event in events)
        progress.started = any(isinstance(event, ThinkingStarted) for event in events)
        self._token |= progress.token
        complete = len(self._done) >= self._context.choices and not self._open
        if complete and not self._finished:
            self._finished = True
            if self._nothing():
                progress.fault = progress.fault or Fault(FaultKind.EMPTY, status=200)
                return progress
            progress.finished = True
        if complete and any(cutter.stopped for cutter in self._cutters.values()):
            progress.ended = True
        progress.out = self._out(events)
        return progress

    def _nothing(self) -> bool:
        return (
            not self._token
            and not self._context.may_be_empty
            and not any(cutter.stopped for cutter in self._cutters.values())
            and set(self._done.values()) == {"stop"}
        )

    def _note(self, event: Event) -> list[Event]:
        """Count an event and cut it at stop sequences; what is left of it."""
        if isinstance(event, UsageSeen):
            self.usage = event.usage
            return [event]
        choice = getattr(event, "choice", 0)
        if choice in self._done:
            return []
        if isinstance(event, Stopped):
            fence = self._fences.get(choice)
            rest = fence.flush() if fence else ""
            out = self._said(TextDelta(rest, choice)) if rest else []
            if choice in self._done:  # the rest held a stop sequence
                return out
            out += self._flushed(choice)
            return [*out, self._stop(event)]
        self._open.add(choice)
        if isinstance(event, TextDelta) and self._context.json_text:
            text = self._fences.setdefault(choice, FenceStripper()).push(event.text)
            return self._said(TextDelta(text, choice)) if text else []
        if isinstance(event, TextDelta):
            return self._said(event)
        if isinstance(event, ThinkingDelta | RefusalDelta):
            self.delivered_length += weight(event.text)
        elif isinstance(event, ToolCallDelta):
            self.delivered_length += weight(event.arguments)
        return [event]

    def _said(self, event: TextDelta) -> list[Event]:
        if self._context.stop:
            return self._cut(event)
        self.delivered_length += weight(event.text)
        return [event]

    def _cut(self, event: TextDelta) -> list[Event]:
        cutter = self._cutters.setdefault(event.choice, StopCutter(self._context.stop))
        text = cutter.push(event.text)
        self.delivered_length += weight(text)
        out: list[Event] = [TextDelta(text, event.choice)] if text else []
        if cutter.stopped:
            out.append(self._stop(Stopped("stop", event.choice, cutter.matched)))
        return out

    def _flushed(self, choice: int) -> list[Event]:
        cutter = self._cutters.get(choice)
        text = cutter.flush() if cutter else ""
        self.delivered_length += weight(text)
        return [TextDelta(text, choice)] if text else []

    def _stop(self, event: Stopped) -> Stopped:
        self._open.discard(event.choice)
        self._done[event.choice] = event.reason
        self.finish_reason = self._done.get(0, event.reason)
        return event

    def _out(self, events: list[Event]) -> bytes:
        raise NotImplementedError


class TranslatedStream(_Answer):
    """See `formats.base.AnswerStream`."""

    def __init__(self, back: Back, context: AnswerContext, writer: EventWriter) -> None:
        super().__init__(back, context)
        self._writer = writer

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        return self._writer.finale(usage, comment)

    def failure(self, problem: Problem) -> bytes | None:
        """See `formats.base.FailingStream`."""
        writer = self._writer
        return writer.failure(problem) if isinstance(writer, FailingStream) else None

    def _out(self, events: list[Event]) -> bytes:
        return self._writer.write(events) if events else b""


class TranslatedAssembler(_Answer):
    """See `formats.base.AnswerAssembler`."""

    def __init__(self, back: Back, context: AnswerContext, front: HubFront) -> None:
        super().__init__(back, context)
        self._front = front
        self._fold = EventFold()
        self._fault: Fault | None = None

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        progress = super().end()
        self._fault = progress.fault
        return progress

    def finale(self, usage: Usage, comment: bytes) -> bytes:  # noqa: ARG002 - no stream, no end
        """Nothing: a plain answer has no last events."""
        return b""

    def whole(self, usage: Usage | None = None) -> WholeAnswer:
        """The folded answer; call after `end`."""
        if self._fault is not None:
            return WholeAnswer(usage=self.usage, fault=self._fault)
        return _whole(self._front, self._context, self._fold, usage or self.usage)

    def _out(self, events: list[Event]) -> bytes:
        for event in events:
            self._fold.add(event)
        return b""


def _whole(
    front: HubFront, context: AnswerContext, fold: EventFold, usage: Usage | None
) -> WholeAnswer:
    reply = fold.reply(context.stop)
    if context.json_text:
        reply = _bare(reply)
        if not _is_json(reply):
            fault = Fault(FaultKind.BAD_ANSWER, "the answer is not the JSON asked for", status=200)
            return WholeAnswer(usage=usage, fault=fault)
    if fold.nothing and not context.may_be_empty:
        return WholeAnswer(usage=usage, fault=Fault(FaultKind.EMPTY, status=200))
    if usage is None:
        usage = estimated(context.prompt_estimate, fold.delivered)
    reason = reply.choices[0].finish_reason
    body = front.reply(reply, usage, context)
    called = any(isinstance(part, ToolCall) for one in reply.choices for part in one.parts)
    return WholeAnswer(body, usage, reason, fold.delivered, called=called)


def _bare(reply: Reply) -> Reply:
    """The reply without code fences around its text."""
    return replace(reply, choices=tuple(_without_fence(choice) for choice in reply.choices))


def _without_fence(choice: Choice) -> Choice:
    texts = [part for part in choice.parts if isinstance(part, Text)]
    if not texts:
        return choice
    text = stripped("".join(part.text for part in texts))
    first = texts[0]
    kept = (part for part in choice.parts if part is first or not isinstance(part, Text))
    return replace(choice, parts=tuple(Text(text) if part is first else part for part in kept))


def _is_json(reply: Reply) -> bool:
    """Whether every answer that came to its own end is JSON; calls are none of this."""
    for choice in reply.choices:
        calls = any(isinstance(part, ToolCall) for part in choice.parts)
        text = "".join(part.text for part in choice.parts if isinstance(part, Text))
        if choice.finish_reason != "stop" or calls or not text:
            continue
        try:
            json.decode(text.encode("utf-8", "surrogatepass"))
        except json.BadJson:
            return False
    return True

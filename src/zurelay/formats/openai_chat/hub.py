"""Answers to and from the neutral form, for exchanges with other formats."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from zurelay.chat.events import (
    Choice,
    Event,
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
from zurelay.chat.faults import Fault
from zurelay.chat.parts import Part, RefusalText, Text, Thinking, ToolCall
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Inbound, Outbound, Target
from zurelay.formats.openai_chat import build, faults, request
from zurelay.formats.openai_chat import usage as counts
from zurelay.formats.openai_chat.chunks import Chunk, ChunkReader
from zurelay.formats.openai_chat.fold import Fold
from zurelay.formats.openai_chat.front import NAME
from zurelay.formats.openai_chat.stream import ChunkStream
from zurelay.formats.openai_chat.write import ChunkWriter
from zurelay.formats.translate import Events
from zurelay.wire import json
from zurelay.wire.sse import Frame

Json = dict[str, Any]


class ChatBack:
    """See `formats.translate.Back`."""

    name = NAME

    def write(self, asked: Request, target: Target) -> Outbound:
        """The upstream request."""
        return build.write(asked, target)

    def reader(self, context: AnswerContext) -> "ChatEvents":
        """A reader for the upstream's event stream."""
        return ChatEvents(_unjudged(context))

    def reply(self, body: bytes, context: AnswerContext) -> Reply | Fault:
        """Read a plain answer."""
        reader = ChunkReader(_unjudged(context))
        chunk = reader.whole(body.strip())
        if chunk.fault is not None:
            return chunk.fault
        fold = Fold()
        for choice in chunk.choices:
            fold.add(choice)
        choices = tuple(
            Choice(tuple(_parts(choice["message"])), choice["finish_reason"])
            for choice in fold.choices()
        )
        return Reply(choices, reader.usage)

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        return faults.fault(status, headers, body, now, profile)


def _unjudged(context: AnswerContext) -> AnswerContext:
    """Fences around JSON are taken off, and JSON is checked, where formats meet."""
    return msgspec.structs.replace(context, json_text=False) if context.json_text else context


def _parts(message: Json) -> Iterable[Part]:
    yield from request.thinking(message)
    if message.get("content"):
        yield Text(message["content"])
    if message.get("refusal"):
        yield RefusalText(message["refusal"])
    for call in message.get("tool_calls") or ():
        yield request.tool_call(call)


class ChatEvents(ChunkStream):
    """Reads an upstream's stream into neutral events. See `formats.translate.EventReader`."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._events: list[Event] = []
        self._told: Usage | None = None

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        progress = self.feed(data)
        return self._batch(progress.alive, progress.ended, progress.fault)

    def close(self) -> Events:
        """The upstream's bytes are over."""
        progress = self.end()
        return self._batch(progress.alive, ended=True, fault=progress.fault)

    def _batch(self, alive: bool, ended: bool, fault: Fault | None) -> Events:
        events, self._events = self._events, []
        if self.usage is not None and self.usage != self._told:
            self._told = self.usage
            events.append(UsageSeen(self.usage))
        return Events(events, alive, ended, fault)

    def _write(self, chunk: Chunk, frame: Frame) -> bytes:  # noqa: ARG002 - parsed already
        for choice in chunk.choices:
            self._events += _events(choice)
        return b""


def _events(choice: Json) -> Iterable[Event]:
    index, delta = choice["index"], choice["delta"]
    if delta.get("reasoning_content"):
        yield ThinkingDelta(delta["reasoning_content"], index)
    for item in delta.get("reasoning_details") or ():
        origin = item.get("format")
        bound = item.get("id")
        yield ThinkingSigned(
            str(item.get("data") or item.get("signature")),
            origin if isinstance(origin, str) else "",
            redacted=bool(item.get("data")),
            call_id=bound if isinstance(bound, str) else None,
        )
    if delta.get("content"):
        yield TextDelta(delta["content"], index)
    if delta.get("refusal"):
        yield RefusalDelta(delta["refusal"], index)
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        if "id" in call and function:
            yield ToolCallStarted(call["index"], call["id"], function["name"], index)
        if function.get("arguments"):
            yield ToolCallDelta(call["index"], function["arguments"], index)
    if choice.get("finish_reason"):
        yield Stopped(choice["finish_reason"], index)


class ChatHubFront:
    """See `formats.translate.HubFront`."""

    name = NAME

    def request(self, inbound: Inbound) -> Request:
        """The caller's request in neutral form."""
        return request.read(inbound)

    def writer(self, context: AnswerContext) -> "ChatEventWriter":
        """A writer for the caller's event stream."""
        return ChatEventWriter(context)

    def reply(self, reply: Reply, usage: Usage, context: AnswerContext) -> bytes:
        """A plain answer for the caller."""
        body = {
            "id": context.answer_id,
            "object": "chat.completion",
            "created": context.created,
            "model": context.model,
            "choices": [
                {
                    "index": index,
                    "message": _message(choice.parts),
                    "finish_reason": choice.finish_reason,
                }
                for index, choice in enumerate(reply.choices)
            ],
            "usage": counts.write(usage),
        }
        return json.encode(body)


def _message(parts: Sequence[Part]) -> Json:
    texts = [part.text for part in parts if isinstance(part, Text)]
    refusals = [part.text for part in parts if isinstance(part, RefusalText)]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    thoughts = [part for part in parts if isinstance(part, Thinking)]
    message: Json = {
        "role": "assistant",
        "content": "".join(texts) if texts or not (calls or refusals) else None,
    }
    thought = "".join(part.text for part in thoughts)
    if thought:
        message["reasoning_content"] = thought
    signed: list[Json] = []
    for part in thoughts:
        if part.signature:
            proof = _signed(part.signature, part.origin, part.redacted, part.call_id)
            later = signed and not part.redacted
            signed.append({**proof, "text": part.text} if later else proof)
    if signed:
        message["reasoning_details"] = signed
    if refusals:
        message["refusal"] = "".join(refusals)
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def _signed(signature: str, origin: str | None, redacted: bool, call_id: str | None) -> Json:
    """`id` is the tool call that the proof hangs on, as other gateways write it too.

    Every proof of a text but the first repeats its `text`, so that it is known which is whose.
    """
    bound = {} if call_id is None else {"id": call_id}
    if redacted:
        return {"type": "reasoning.encrypted", **bound, "data": signature, "format": origin}
    return {"type": "reasoning.text", **bound, "signature": signature, "format": origin}


class ChatEventWriter:
    """Writes neutral events as chunks. See `formats.translate.EventWriter`."""

    def __init__(self, context: AnswerContext) -> None:
        self._writer = ChunkWriter(context)
        self._include_usage = context.include_usage
        self._begun: set[int] = set()
        self._signed = False
        self._thought: list[str] = []  # since the last proof

    def write(self, events: Sequence[Event]) -> bytes:
        """The chunks for some events."""
        return b"".join(self._one(event) for event in events)

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        return self._writer.finale(usage if self._include_usage else None, comment)

    def _one(self, event: Event) -> bytes:
        match event:
            case TextDelta(text, choice):
                return self._delta(choice, {"content": text})
            case ThinkingDelta(text, choice):
                if choice == 0:
                    self._thought.append(text)
                return self._delta(choice, {"reasoning_content": text})
            case RefusalDelta(text, choice):
                return self._delta(choice, {"refusal": text})
            case ThinkingSigned(signature, origin, redacted, call_id):
                signed = _signed(signature, origin, redacted, call_id)
                if self._signed and not redacted:
                    signed["text"] = "".join(self._thought)
                self._signed = True
                if not redacted:
                    self._thought = []
                return self._delta(0, {"reasoning_details": [signed]})
            case ToolCallStarted(index, call_id, name, choice):
                function = {"name": name, "arguments": ""}
                call = {"index": index, "id": call_id, "type": "function", "function": function}
                return self._delta(choice, {"tool_calls": [call]})
            case ToolCallDelta(index, arguments, choice):
                call = {"index": index, "function": {"arguments": arguments}}
                return self._delta(choice, {"tool_calls": [call]})
            case Stopped(reason, choice):
                return self._delta(choice, {}, reason)
            case ThinkingStarted() | UsageSeen():
                return b""

    def _delta(self, choice: int, delta: Json, reason: str | None = None) -> bytes:
        if choice not in self._begun:
            self._begun.add(choice)
            delta = {"role": "assistant", **delta}
        return self._writer.event(
            {"choices": [{"index": choice, "delta": delta, "finish_reason": reason}]}
        )

"""Writes neutral events as a Responses stream. See `formats.translate.EventWriter`.

Items open and close in the order in which the model speaks. A call whose arguments are not whole
stays open beside the next one, so calls that come interleaved are told as they come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zurelay.chat.events import (
    Event,
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.problems import Problem
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext
from zurelay.formats.call_arguments import complete
from zurelay.formats.openai_responses import response as shape
from zurelay.formats.openai_responses import toolbox
from zurelay.formats.openai_responses.output import (
    NO_ARGUMENTS,
    call_item,
    called,
    custom_input,
    message_item,
    proof_item,
    reasoning_item,
    text_part,
)
from zurelay.formats.openai_responses.toolbox import Offered
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]

_SAID = {"text": "response.output_text", "refusal": "response.refusal"}
_MORE: dict[str, Json] = {"text": {"logprobs": []}, "refusal": {}}


@dataclass(slots=True)
class _Call:
    """A call under way."""

    place: int
    id: str
    call_id: str
    tool: Offered
    arguments: str = ""


class ResponseWriter:
    """The writer of one answer."""

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._same = shape.repeated(context.asked)
        self._offered = toolbox.of_request(context.asked)
        self._sequence = 0
        self._out: list[bytes] = []
        self._items: dict[int, Json] = {}  # whole ones, by place
        self._next = 0
        self._calls: dict[int, _Call] = {}  # open ones, by their number
        self._open = ""  # the open item that is no call: message or reasoning
        self._place = -1  # where it stands
        self._id = ""
        self._parts: list[Json] = []  # whole parts of the open message
        self._kind = ""  # of the open part: text or refusal
        self._text = ""
        self._reason = "stop"

    def write(self, events: Sequence[Event]) -> bytes:
        """The events for some neutral ones."""
        for event in events:
            if getattr(event, "choice", 0) == 0:
                self._one(event)
        return self._taken()

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        self._begin()
        status = shape.status_of(self._reason)
        before = self._taken()
        whole = shape.response(
            self._context, self._same, status, self._output(), usage, reason=self._reason
        )
        self._tell(f"response.{status}", response=whole)
        return before + comment + self._taken()

    def failure(self, problem: Problem) -> bytes:
        """The last events of an answer that failed: it began, whatever was sent of it."""
        self._begin()
        whole = shape.response(self._context, self._same, "failed", self._output(), problem=problem)
        self._tell("response.failed", response=whole)
        return self._taken()

    def _one(self, event: Event) -> None:
        match event:
            case TextDelta(text):
                self._say("text", text)
            case RefusalDelta(text):
                self._say("refusal", text)
            case ThinkingDelta(text):
                self._think(text)
            case ThinkingSigned():
                self._sign(event)
            case ToolCallStarted(index, call_id, name):
                self._start_call(index, call_id, name)
            case ToolCallDelta(index, arguments):
                self._grow_call(index, arguments)
            case Stopped(reason):
                self._begin()
                self._reason = reason
                self._close(shape.status_of(reason))
                for other in list(self._calls):
                    self._close_call(other, shape.status_of(reason))
            case ThinkingStarted() | UsageSeen():
                pass

    # Messages and thinking: one of them is open at a time.

    def _say(self, kind: str, text: str) -> None:
        if not text:
            return
        if self._open != "message":
            self._close_whole_calls()
            self._open_item("message", "msg")
            item = message_item(self._id, "in_progress", [])
            self._tell("response.output_item.added", output_index=self._place, item=item)
        if self._kind != kind:
            self._close_part()
            self._kind, self._text = kind, ""
            self._tell_part("response.content_part.added", part=text_part(kind, ""))
        self._text += text
        self._tell_part(f"{_SAID[kind]}.delta", delta=text, **_MORE[kind])

    def _think(self, text: str) -> None:
        if not text:
            return
        if self._open != "reasoning":
            self._close_whole_calls()
            self._open_reasoning()
            part = {"type": "summary_text", "text": ""}
            self._tell_summary("response.reasoning_summary_part.added", part=part)
        self._text += text
        self._tell_summary("response.reasoning_summary_text.delta", delta=text)

    def _open_reasoning(self) -> None:
        self._open_item("reasoning", "rs")
        item = reasoning_item(self._id, "")
        self._tell("response.output_item.added", output_index=self._place, item=item)

    def _sign(self, event: ThinkingSigned) -> None:
        if self._open != "reasoning":  # a proof of its own, beside the calls under way
            self._close()
            place, own = self._new("rs")
            item = proof_item(own, "", event)
            begun = reasoning_item(own, "")
            self._tell("response.output_item.added", output_index=place, item=begun)
            self._done(place, item)
            return
        self._close(proof=event)

    def _open_item(self, kind: str, prefix: str) -> None:
        self._close()
        self._begin()
        self._open, self._kind, self._text, self._parts = kind, "", "", []
        self._place, self._id = self._new(prefix)

    def _close_part(self) -> None:
        if not self._kind:
            return
        part = text_part(self._kind, self._text)
        name = "text" if self._kind == "text" else "refusal"
        said = {name: self._text, **_MORE[self._kind]}
        self._tell_part(f"{_SAID[self._kind]}.done", **said)
        self._tell_part("response.content_part.done", part=part)
        self._parts.append(part)
        self._kind = ""

    def _close(self, status: str = "completed", proof: ThinkingSigned | None = None) -> None:
        if self._open == "message":
            self._close_part()
            self._done(self._place, message_item(self._id, status, self._parts))
        elif self._open == "reasoning":
            part = {"type": "summary_text", "text": self._text}
            self._tell_summary("response.reasoning_summary_text.done", text=self._text)
            self._tell_summary("response.reasoning_summary_part.done", part=part)
            self._done(self._place, proof_item(self._id, self._text, proof))
        self._open = ""

    # Calls: several may be open, each told as it grows.

    def _start_call(self, index: int, call_id: str, name: str) -> None:
        self._close()
        self._close_whole_calls()
        tool = called(name, self._offered)
        place, own = self._new("ctc" if tool.custom else "fc")
        call = _Call(place, own, legal(call_id, "max64"), tool)
        self._calls[index] = call
        item = call_item(own, call.call_id, tool, "", "in_progress")
        self._tell("response.output_item.added", output_index=place, item=item)

    def _grow_call(self, index: int, arguments: str) -> None:
        call = self._calls.get(index)
        if call is None or not arguments:
            return
        call.arguments += arguments
        if not call.tool.custom:  # a custom tool's input is known when the JSON around it is whole
            self._tell_call("response.function_call_arguments.delta", call, delta=arguments)

    def _close_whole_calls(self) -> None:
        for index in [i for i, call in self._calls.items() if complete(call.arguments)]:
            self._close_call(index)

    def _close_call(self, index: int, status: str = "completed") -> None:
        call = self._calls.pop(index)
        if complete(call.arguments) and call.place != self._next - 1:
            status = "completed"
        said = custom_input(call.arguments) if call.tool.custom else call.arguments
        if call.tool.custom:
            if said:
                self._tell_call("response.custom_tool_call_input.delta", call, delta=said)
            self._tell_call("response.custom_tool_call_input.done", call, input=said)
        else:
            if not said:  # callers read it as JSON
                said = NO_ARGUMENTS
                self._tell_call("response.function_call_arguments.delta", call, delta=said)
            done = "response.function_call_arguments.done"
            self._tell_call(done, call, name=call.tool.name, arguments=said)
        item = call_item(call.id, call.call_id, call.tool, said, status)
        self._done(call.place, item)

    # Frames.

    def _new(self, prefix: str) -> tuple[int, str]:
        """Place and id of the next item."""
        self._begin()
        place = self._next
        self._next += 1
        return place, shape.item_id(self._context, prefix, place)

    def _done(self, place: int, item: Json) -> None:
        self._items[place] = item
        self._tell("response.output_item.done", output_index=place, item=item)

    def _output(self) -> list[Json]:
        return [self._items[place] for place in sorted(self._items)]

    def _begin(self) -> None:
        if self._sequence:
            return
        began = shape.response(self._context, self._same, "in_progress")
        self._tell("response.created", response=began)
        self._tell("response.in_progress", response=began)

    def _tell_part(self, kind: str, **fields: Any) -> None:
        at = {"item_id": self._id, "output_index": self._place, "content_index": len(self._parts)}
        self._tell(kind, **at, **fields)

    def _tell_summary(self, kind: str, **fields: Any) -> None:
        at = {"item_id": self._id, "output_index": self._place, "summary_index": 0}
        self._tell(kind, **at, **fields)

    def _tell_call(self, kind: str, call: _Call, **fields: Any) -> None:
        self._tell(kind, item_id=call.id, output_index=call.place, **fields)

    def _tell(self, kind: str, **fields: Any) -> None:
        data = json.encode({"type": kind, "sequence_number": self._sequence, **fields})
        self._sequence += 1
        self._out.append(b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n")

    def _taken(self) -> bytes:
        out, self._out = b"".join(self._out), []
        return out

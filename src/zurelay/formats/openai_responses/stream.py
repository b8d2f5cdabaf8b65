"""Reads a Responses event stream into neutral events. See `formats.translate.EventReader`.

A stream is whole with `response.completed` or `response.incomplete` and not before. Tolerates:
items that were never added, deltas without place or id, hosts that send only whole items or only
the last event, padding, unknown events, `[DONE]`.
"""

from typing import Any

from zurelay.chat.events import Event, FinishReason, Stopped, UsageSeen
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_responses import ORIGIN, errors
from zurelay.formats.openai_responses.items import ItemReader
from zurelay.formats.openai_responses.usage import read as read_usage
from zurelay.formats.origin import origin
from zurelay.formats.tool_ids import minter
from zurelay.formats.translate import Events
from zurelay.wire import json
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

Json = dict[str, Any]

_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "thinking",
}
_PARTS_DONE = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.reasoning_summary_text.done": "summary",
    "response.reasoning_text.done": "thinking",
}
LAST = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)


class ResponseReader:
    """Reads the events of one answer, already parsed.

    Attributes:
        finished: the answer is whole.
    """

    def __init__(self, context: AnswerContext) -> None:
        mint = minter(context.answer_id)
        self._profile = context.profile
        self._items = ItemReader(origin(context.profile.realm, ORIGIN), lambda call: mint(0, call))
        self.finished = False

    @property
    def begun(self) -> bool:
        """Something was told."""
        return self._items.any

    def event(self, event: Json) -> list[Event] | Fault:
        """What one event says."""
        kind = event.get("type")
        if kind in _DELTAS:
            told = _DELTAS[kind]
            if told in ("text", "refusal"):
                return self._items.text(event, told)
            return self._items.thinking(event, told)
        if kind == "response.function_call_arguments.delta":
            return self._items.arguments(event)
        if kind in _PARTS_DONE:
            return self._items.part_done(event, _PARTS_DONE[kind])
        if kind == "response.function_call_arguments.done":
            return self._items.arguments_done(event)
        if kind == "response.output_item.added":
            return self._items.added(event)
        if kind == "response.output_item.done":
            return self._items.done(event)
        if kind in LAST:
            response = event.get("response")
            return self.last(response if isinstance(response, dict) else {}, str(kind))
        if kind == "error" or (kind is None and event.get("error")):
            return errors.fault_inside(event, self._profile)
        return []

    def last(self, response: Json, kind: str = "") -> list[Event] | Fault:
        """The response object that ends an answer, or is a plain one."""
        status = response.get("status") or kind.removeprefix("response.")
        if status == "failed" or response.get("error"):
            return errors.fault_inside(response.get("error"), self._profile)
        if status not in ("completed", "incomplete"):
            return Fault(FaultKind.BAD_ANSWER, f"a response that is {status}"[:80], status=200)
        out: list[Event] = []
        output = response.get("output")
        if not self.begun and isinstance(output, list):
            for place, item in enumerate(output):
                out += self._items.done({"output_index": place, "item": item})
        usage = read_usage(response.get("usage"))
        if usage is not None:
            out.append(UsageSeen(usage))
        self.finished = True
        return [*out, Stopped(self._reason(response, str(status)))]

    def _reason(self, response: Json, status: str) -> FinishReason:
        if status == "incomplete":
            details = response.get("incomplete_details")
            why = details.get("reason") if isinstance(details, dict) else None
            return "content_filter" if why == "content_filter" else "length"
        return "tool_calls" if self._items.calls else "stop"


class ResponsesEvents:
    """The reader of an upstream's bytes."""

    def __init__(self, context: AnswerContext) -> None:
        self._frames = FrameReader()
        self._reader = ResponseReader(context)

    def read(self, data: bytes) -> Events:
        """Take the next bytes, cut anywhere."""
        try:
            return self._take(self._frames.feed(data))
        except FrameTooLong as error:
            return self._too_long(error)

    def close(self) -> Events:
        """The bytes are over; without the last event the answer is not whole."""
        try:
            batch = self._take(self._frames.end(), closing=True)
        except FrameTooLong as error:
            batch = self._too_long(error)
        if batch.fault is None and not self._reader.finished:
            told = "the stream ended before response.completed"
            batch.fault = Fault(FaultKind.BROKE_OFF, told, status=200)
        return batch

    def _too_long(self, error: FrameTooLong) -> Events:
        batch = self._take(error.frames)
        if batch.fault is None and not self._reader.finished:
            batch.fault = Fault(FaultKind.BAD_ANSWER, str(error), status=200)
        return batch

    def _take(self, frames: list[Frame], closing: bool = False) -> Events:
        batch = Events(alive=bool(frames))
        for frame in frames:
            if self._reader.finished:
                break
            told = self._event(frame, closing)
            if isinstance(told, Fault):
                batch.fault = told
                break
            batch.events += told
        batch.ended = self._reader.finished
        return batch

    def _event(self, frame: Frame, closing: bool) -> list[Event] | Fault:
        data = json.readable(frame.data)
        if data.startswith(b"[DONE]"):
            return []
        try:
            event = json.decode(data)
        except json.BadJson as error:
            # Before the first token a broken event is a broken answer; later it is skipped.
            if self._reader.begun or closing or not data.startswith(b"{"):
                return []
            return Fault(FaultKind.BAD_ANSWER, f"unreadable event: {error}", status=200)
        if not isinstance(event, dict):
            return []
        if "type" not in event and frame.event:
            event["type"] = frame.event.decode("utf-8", "replace")
        return self._reader.event(event)

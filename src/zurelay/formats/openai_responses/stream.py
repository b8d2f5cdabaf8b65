"""Reads a Responses event stream into neutral events. See `formats.translate.EventReader`.

A stream is whole with `response.completed` or `response.incomplete` and not before. Tolerates:
items that were never added, deltas without place or id, hosts that send only whole items or only
the last event, padding, unknown events, `[DONE]`.
"""

from typing import Any

from zurelay.chat.events import Event, FinishReason, Stopped, UsageSeen
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.base import AnswerContext
from zurelay.formats.event_stream import EventStream
from zurelay.formats.openai_responses import ORIGIN, errors
from zurelay.formats.openai_responses.items import ItemReader
from zurelay.formats.openai_responses.usage import read as read_usage
from zurelay.formats.origin import origin
from zurelay.formats.tool_ids import minter

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

    @property
    def over(self) -> bool:
        """Nothing comes after the last event."""
        return self.finished

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
        usage = read_usage(response.get("usage"), response.get("service_tier"))
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


def event_stream(context: AnswerContext) -> EventStream:
    """A reader for the upstream's event stream."""
    return EventStream(ResponseReader(context), "response.completed")

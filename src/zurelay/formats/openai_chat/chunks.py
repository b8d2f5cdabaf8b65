"""An upstream's stream, event by event: what each says, in normal form.

Shared by everything that reads Chat Completions streams: the relay of the same format, the
assembler of plain answers, the reader for other formats. Writes nothing.
"""

from dataclasses import dataclass, field
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_chat import faults
from zurelay.formats.openai_chat import usage as counts
from zurelay.formats.openai_chat.deltas import ChoiceReader
from zurelay.formats.tool_ids import minter
from zurelay.wire import json
from zurelay.wire.sse import Frame

Json = dict[str, Any]
_ERROR = Raw(b'"error"')
_MOST_CHOICES = 128


@dataclass(slots=True)
class Chunk:
    """One event.

    Attributes:
        fields: its top level, as bytes.
        choices: its choices in normal form, without those that have nothing to say.
        unchanged: `choices` are what the upstream wrote.
        token: it holds a token.
        fault: the answer failed here.
    """

    fields: dict[str, Raw] = field(default_factory=dict)
    choices: list[Json] = field(default_factory=list)
    unchanged: bool = False
    token: bool = False
    fault: Fault | None = None


class ChunkReader:
    """Reads the events of one answer.

    Attributes:
        usage: the upstream's count; the last one holds.
        ended: its end mark came, or we cut the answer at a stop sequence.
        begun: there was a token.
        choices: readers by index.
        closing: what comes now may have been cut off by the end of the bytes.
    """

    __slots__ = ("_context", "_mint", "_tier", "begun", "choices", "closing", "ended", "usage")

    def __init__(self, context: AnswerContext) -> None:
        self._context = context
        self._mint = minter(context.answer_id)
        self._tier: str | None = None
        self.usage: Usage | None = None
        self.ended = False
        self.begun = False
        self.closing = False
        self.choices: dict[int, ChoiceReader] = {}

    @property
    def delivered(self) -> int:
        """Length of everything read, as `chat.estimate.weight` counts."""
        return sum(choice.delivered for choice in self.choices.values())

    @property
    def finished(self) -> bool:
        """As many choices are complete as were asked for, and none is open."""
        done = [choice.finish_reason is not None for choice in self.choices.values()]
        return len(done) >= self._context.choices and all(done)

    @property
    def finish_reason(self) -> str | None:
        """That of the first choice."""
        first = self.choices.get(0) or next(iter(self.choices.values()), None)
        return first.finish_reason if first else None

    @property
    def empty(self) -> bool:
        """Nothing was delivered and nothing explains it."""
        return (
            not self.begun
            and not self._context.may_be_empty
            and all(
                choice.finish_reason in (None, "stop") and not choice.matched_stop
                for choice in self.choices.values()
            )
        )

    def read(self, frame: Frame) -> Chunk:
        """What one event says."""
        data = json.readable(frame.data)
        if data.startswith(b"[DONE]"):
            self.ended = True
            return Chunk()
        try:
            fields = json.upstream_fields(data)
            error = self._error(fields, frame)
            if error is not None:
                return Chunk(fault=error)
            self._count(fields)
            raw = fields.get("choices")
            choices = None if raw is None else json.decode(raw)
        except json.BadJson as error_:
            return self._unreadable(data, str(error_))
        return self._choices(fields, choices if isinstance(choices, list) else [])

    def whole(self, body: bytes) -> Chunk:
        """What a plain answer says, as if it were one event."""
        try:
            fields = json.upstream_fields(json.readable(body))
            error = self._error(fields, Frame(body))
            if error is not None:
                return Chunk(fault=error)
            self._count(fields)
            raw = fields.get("choices")
            choices = None if raw is None else json.decode(raw)
        except json.BadJson as error_:
            return Chunk(fault=Fault(FaultKind.BAD_ANSWER, f"unreadable: {error_}", status=200))
        if not isinstance(choices, list):
            return Chunk(fault=Fault(FaultKind.BAD_ANSWER, "an answer without choices", status=200))
        chunk = self._choices(fields, [_as_event(choice) for choice in choices])
        self.ended = True
        chunk.fault = chunk.fault or self.end()
        return chunk

    def end(self) -> Fault | None:
        """The bytes are over: the fault if the answer is not whole."""
        done = [choice.finish_reason is not None for choice in self.choices.values()]
        if done and all(done):
            return Fault(FaultKind.EMPTY, status=200, usage=self.usage) if self.empty else None
        if self.ended and not self.begun:
            return Fault(FaultKind.EMPTY, status=200, usage=self.usage)
        return Fault(FaultKind.BROKE_OFF, "no finish reason came", status=200)

    def _unreadable(self, data: bytes, why: str) -> Chunk:
        """Before the first token a broken event is a broken answer; later it is skipped."""
        if self.begun or self.closing or not data.startswith(b"{"):
            return Chunk()
        return Chunk(fault=Fault(FaultKind.BAD_ANSWER, f"unreadable event: {why}", status=200))

    def _error(self, fields: dict[str, Raw], frame: Frame) -> Fault | None:
        """An error in place of a chunk; after the last finish reason it matters no more."""
        raw = fields.get("error")
        error = None if raw is None else json.decode(raw)
        flat = "choices" not in fields and (
            frame.event == b"error"
            or fields.get("object") == _ERROR
            or "message" in fields
            or "detail" in fields
        )
        if not (error or flat) or self.finished:
            return None
        whole = {name: json.decode(value) for name, value in fields.items()}
        return faults.fault_inside(whole, self._context.profile)

    def _count(self, fields: dict[str, Raw]) -> None:
        raw = fields.get("service_tier")
        if raw is not None:
            self._tier = service_tier.used(json.decode(raw))
        for name in ("x_groq", "usage"):
            raw = fields.get(name)
            if raw is not None:
                value = json.decode(raw)
                if name == "x_groq":
                    value = value.get("usage") if isinstance(value, dict) else None
                self._keep(value)

    def _keep(self, value: object) -> None:
        usage = counts.read(value, self._context.profile.usage_excludes_reasoning)
        if usage is not None:
            self.usage = replace(usage, tier=self._tier) if self._tier is not None else usage

    def _choices(self, fields: dict[str, Raw], choices: list[Any]) -> Chunk:
        chunk = Chunk(fields, unchanged=True)
        for place, choice in enumerate(choices):
            if not isinstance(choice, dict):
                chunk.unchanged = False
                continue
            if choice.get("usage") is not None:
                self._keep(choice["usage"])
            reader = self._reader(choice.get("index"), place)
            if reader is None:
                chunk.unchanged = False
                continue
            read = reader.read(choice)
            if reader.fault is not None:
                chunk.fault = reader.fault
                return chunk
            chunk.token |= reader.token
            chunk.unchanged &= read == choice
            if read is not None:
                chunk.choices.append(read)
        self.begun |= chunk.token
        if chunk.choices and self.finished and self.empty:
            chunk.fault = Fault(FaultKind.EMPTY, status=200, usage=self.usage)
        if self._context.stop and self.finished:
            self.ended |= any(choice.matched_stop for choice in self.choices.values())
        return chunk

    def _reader(self, index: object, place: int) -> ChoiceReader | None:
        number = index if isinstance(index, int) and not isinstance(index, bool) else place
        reader = self.choices.get(number)
        if reader is None and 0 <= number < _MOST_CHOICES:
            reader = self.choices[number] = ChoiceReader(
                number,
                lambda call: self._mint(number, call),
                self._context.stop,
                self._context.profile.think_tags,
                self._context.profile.realm,
                self._context.json_text,
            )
        return reader


def _as_event(choice: object) -> object:
    """A choice of a plain answer as a stream would carry it; without a reason it is complete."""
    if not isinstance(choice, dict):
        return choice
    event = {name: value for name, value in choice.items() if name != "message"}
    return {
        **event,
        "delta": choice.get("message"),
        "finish_reason": choice.get("finish_reason") or "stop",
    }

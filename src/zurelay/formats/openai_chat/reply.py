"""Plain answers that stay in this format: read whole, or put together from a stream."""

from typing import Any

from zurelay.chat.estimate import estimated
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Progress, WholeAnswer
from zurelay.formats.openai_chat import ordinary
from zurelay.formats.openai_chat import usage as counts
from zurelay.formats.openai_chat.chunks import Chunk, ChunkReader
from zurelay.formats.openai_chat.fold import Fold
from zurelay.formats.openai_chat.stream import ChunkStream
from zurelay.formats.openai_chat.write import kept
from zurelay.wire import json
from zurelay.wire.sse import Frame


def whole(body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
    """Read a plain upstream answer; blank space before it is a keep-alive of some hosts."""
    body = body.strip()
    if usage is None:
        short = ordinary.whole(body, context)
        if short is not None:
            return short
    return long_way(body, context, usage)


def long_way(body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
    """Read any plain answer; `body` has no blank space around it."""
    reader = ChunkReader(context)
    chunk = reader.whole(body)
    if chunk.fault is not None:
        return WholeAnswer(usage=reader.usage, fault=chunk.fault)
    fold = Fold()
    for choice in chunk.choices:
        fold.add(choice)
    return _answer(kept(chunk.fields), fold, reader, context, usage)


def _answer(
    fields: dict[str, Any],
    fold: Fold,
    reader: ChunkReader,
    context: AnswerContext,
    usage: Usage | None,
) -> WholeAnswer:
    choices = fold.choices()
    if context.json_text and not all(map(_is_json, choices)):
        fault = Fault(FaultKind.BAD_ANSWER, "the answer is not the JSON asked for", status=200)
        return WholeAnswer(usage=reader.usage, fault=fault)
    usage = usage or reader.usage or estimated(context.prompt_estimate, reader.delivered)
    body = {
        "id": context.answer_id,
        "object": "chat.completion",
        "created": context.created,
        "model": context.model,
        **fields,
        "choices": choices,
        "usage": counts.write(usage),
    }
    return WholeAnswer(
        json.encode(body),
        usage,
        reader.finish_reason,
        reader.delivered,
        called=any(choice["message"].get("tool_calls") for choice in choices),
    )


def _is_json(choice: dict[str, Any]) -> bool:
    """Whether an answer that came to its own end is JSON; calls and refusals are none of this."""
    message = choice["message"]
    text = message.get("content")
    if choice["finish_reason"] != "stop" or message.get("tool_calls") or not text:
        return True
    try:
        json.decode(text.encode("utf-8", "surrogatepass"))
    except json.BadJson:
        return False
    return True


class Assembler(ChunkStream):
    """See `formats.base.AnswerAssembler`."""

    def __init__(self, context: AnswerContext) -> None:
        super().__init__(context)
        self._context = context
        self._fold = Fold()
        self._fields: dict[str, Any] = {}
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
        return _answer(self._fields, self._fold, self._chunks, self._context, usage)

    def _write(self, chunk: Chunk, frame: Frame) -> bytes:  # noqa: ARG002 - parsed already
        fields = kept(chunk.fields)
        fields.pop("obfuscation", None)
        self._fields |= fields
        for choice in chunk.choices:
            self._fold.add(choice)
        return b""

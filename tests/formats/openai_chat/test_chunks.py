"""Events one by one: what each says about the answer."""

import json
from typing import Any

import pytest

from tests.formats.openai_chat.streams import context
from zurelay.chat.faults import FaultKind
from zurelay.formats.openai_chat.chunks import Chunk, ChunkReader
from zurelay.wire.sse import Frame


def read(reader: ChunkReader, body: Any) -> Chunk:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return reader.read(Frame(data))


def body(delta: Any, finish: Any = None, index: int = 0) -> Any:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def test_an_event_in_normal_form_is_unchanged() -> None:
    reader = ChunkReader(context())
    chunk = read(reader, body({"role": "assistant", "content": "a"}))
    assert chunk.unchanged
    assert chunk.token
    assert reader.begun
    assert not read(reader, body({"reasoning": "r"})).unchanged


def test_the_reader_knows_when_all_choices_are_complete() -> None:
    reader = ChunkReader(context(choices=2))
    finished = []
    for event in (body({"content": "a"}, "stop"), body({"content": "b"}, "length", 1)):
        read(reader, event)
        finished.append(reader.finished)
    assert finished == [False, True]
    assert reader.finish_reason == "stop"
    assert reader.delivered == 2
    assert reader.end() is None


def test_fewer_choices_than_asked_for_are_whole_at_the_end() -> None:
    reader = ChunkReader(context(choices=2))
    read(reader, body({"content": "a"}, "stop"))
    assert reader.end() is None


@pytest.mark.parametrize("index", [-1, 128, 10**9, "x", None, True])
def test_numbers_of_choices_are_bounded(index: Any) -> None:
    reader = ChunkReader(context())
    read(reader, body({"content": "a"}, index=index))
    assert all(0 <= number < 128 for number in reader.choices)


def test_the_end_mark_ends() -> None:
    reader = ChunkReader(context())
    read(reader, b"[DONE]")
    assert reader.ended
    fault = reader.end()
    assert fault is not None
    assert fault.kind is FaultKind.EMPTY


def test_a_tail_that_was_cut_off_is_not_held_against_the_answer() -> None:
    reader = ChunkReader(context())
    reader.closing = True
    assert read(reader, b'{"choices":[{').fault is None

"""What is the same in reading every format's event stream."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.events import Event, Stopped, TextDelta
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.event_stream import EventStream, Json, parsed
from zurelay.wire.sse import MAX_LINE, Frame


class Words:
    """A made-up format: `{"text"}`, `{"stop"}`, `{"end"}`, `{"error"}`."""

    def __init__(self) -> None:
        self.begun = self.finished = self.over = False

    def event(self, event: Json) -> list[Event] | Fault:
        if "error" in event:
            return Fault(FaultKind.SERVER_ERROR, "told")
        if "text" in event:
            self.begun = True
            return [TextDelta(event["text"])]
        if "stop" in event:
            self.finished = True
            return [Stopped("stop")]
        self.over = event.get("type") == "end" and self.finished
        return []


WHOLE = (
    b'data: {"text": "a"}\n\ndata: {"text": "b"}\n\ndata: {"stop": 1}\n\nevent: end\ndata: {}\n\n'
)
SAID = [TextDelta("a"), TextDelta("b"), Stopped("stop")]


def stream() -> EventStream:
    return EventStream(Words(), "its stop")


@given(st.lists(st.integers(0, len(WHOLE)), max_size=6))
def test_however_the_bytes_are_cut_the_events_are_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(WHOLE)]
    reader = stream()
    batches = [reader.read(WHOLE[a:b]) for a, b in pairwise(places)]
    batches.append(reader.close())
    assert [event for batch in batches for event in batch.events] == SAID
    assert batches[-1].ended
    assert all(batch.fault is None for batch in batches)


def test_the_end_mark_ends_and_nothing_after_it_is_read() -> None:
    reader = stream()
    assert reader.read(WHOLE).ended
    assert reader.read(b'data: {"text": "more"}\n\n').events == []


def test_an_answer_that_stops_coming_broke_off_and_says_what_is_missing() -> None:
    reader = stream()
    reader.read(b'data: {"text": "a"}\n\n')
    fault = reader.close().fault
    assert fault is not None
    assert (fault.kind, fault.message) == (
        FaultKind.BROKE_OFF,
        "the stream ended before its stop",
    )


def test_a_broken_event_breaks_an_answer_only_before_its_first_token() -> None:
    fault = stream().read(b'data: {"text": \n\n').fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER
    begun = stream()
    begun.read(b'data: {"text": "a"}\n\n')
    assert begun.read(b'data: {"text": \n\n').fault is None


def test_after_its_last_event_nothing_breaks_an_answer() -> None:
    reader = stream()
    reader.read(b'data: {"text": "a"}\n\ndata: {"stop": 1}\n\n')
    assert reader.read(b'data: {"error": "late"}\n\n').fault is None
    early = stream().read(b'data: {"error": "early"}\n\n').fault
    assert early is not None
    assert early.kind is FaultKind.SERVER_ERROR


def test_a_line_without_end_is_a_broken_answer() -> None:
    fault = stream().read(b"data: " + b"x" * (MAX_LINE + 1)).fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER


@pytest.mark.parametrize(
    ("data", "name", "event"),
    [
        (b"[DONE]", b"", {}),
        (b'"text"', b"", {}),
        (b'{"a": 1}', b"kind", {"a": 1, "type": "kind"}),
        (b'{"type": "own"}', b"kind", {"type": "own"}),
        (b'{"error": {}}', b"", {"error": {}}),
        (b'{"error": {"x": 1}}', b"", {"error": {"x": 1}, "type": "error"}),
        (b'[{"error": 1}]', b"", {"error": 1, "type": "error"}),
        (b"[]", b"", {}),
    ],
)
def test_what_a_frame_says(data: bytes, name: bytes, event: Json) -> None:
    assert parsed(Frame(data, name), lenient=False) == event

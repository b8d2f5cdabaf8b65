"""A Responses stream as neutral events."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_responses.responses import (
    Json,
    completed,
    context,
    event,
    message,
    raw,
    read,
    response,
)
from zurelay.chat.events import (
    Event,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.faults import FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.openai_responses.stream import event_stream
from zurelay.wire.sse import MAX_LINE

HELLO = event("response.output_text.delta", output_index=0, delta="Hello")
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


def test_text_usage_and_the_end() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2}
    events, last = read(HELLO, completed(message("Hello"), usage=usage))
    assert events == [TextDelta("Hello"), UsageSeen(Usage(input=5, output=2)), Stopped("stop")]
    assert last.fault is None


def test_the_end_is_told_at_once_and_nothing_after_it_counts() -> None:
    reader = event_stream(context())
    batch = reader.read(raw(HELLO, completed(), HELLO, "[DONE]"))
    assert batch.ended
    assert batch.events == [TextDelta("Hello"), Stopped("stop")]
    assert reader.close().fault is None


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "content_filter"),
        (None, "length"),
    ],
)
def test_incomplete_answers_say_why(details: Json | None, reason: str) -> None:
    last = response([message("He")], "incomplete", incomplete_details=details)
    events, _ = read(event("response.incomplete", response=last))
    assert events[-1] == Stopped(reason)  # type: ignore[arg-type]


def test_calls_finish_as_tool_calls() -> None:
    events, _ = read(completed(CALL))
    assert events[0] == ToolCallStarted(0, "c", "f")
    assert events[-1] == Stopped("tool_calls")


@pytest.mark.parametrize("ending", [(), ("[DONE]",)])
def test_an_answer_without_its_last_event_broke_off(ending: tuple[str, ...]) -> None:
    _, last = read(HELLO, *ending)
    assert last.fault is not None
    assert last.fault.kind is FaultKind.BROKE_OFF


@pytest.mark.parametrize(
    "fault",
    [
        event("response.failed", response=response([], "failed", error={"code": "server_error"})),
        event("response.failed", response=response([], "failed", error=None)),
        completed(error={"code": "server_error", "message": "x"}),
        event("response.cancelled", response=response([], "cancelled")),
        event("error", code="server_error", message="x"),
        {"error": {"message": "x"}},
        event("response.completed", response=response([], "in_progress")),
    ],
)
def test_failures_are_faults_after_what_came_before(fault: Json) -> None:
    events, last = read(HELLO, fault)
    assert events == [TextDelta("Hello")]
    assert last.fault is not None
    assert last.fault.kind is FaultKind.BAD_ANSWER


def test_unknown_events_and_padding_are_signs_of_life_only() -> None:
    batch = event_stream(context()).read(
        raw(event("response.new_thing", x=1), event("keepalive"), "[1]", "hello")
    )
    assert (batch.events, batch.alive, batch.fault) == ([], True, None)


def test_a_broken_event_is_a_fault_before_the_first_token_and_skipped_after() -> None:
    _, last = read('{"type": ')
    assert last.fault is not None
    assert last.fault.kind is FaultKind.BAD_ANSWER
    events, last = read(HELLO, '{"type": ', completed())
    assert events == [TextDelta("Hello"), Stopped("stop")]
    assert last.fault is None


def test_the_name_of_the_event_stands_in_for_a_missing_type() -> None:
    reader = event_stream(context())
    batch = reader.read(b'event: response.output_text.delta\ndata: {"delta":"Hi"}\n\n')
    assert batch.events == [TextDelta("Hi")]


def test_an_endless_line_is_a_bad_answer() -> None:
    batch = event_stream(context()).read(b"data: " + b"x" * (MAX_LINE + 1))
    assert batch.fault is not None
    assert batch.fault.kind is FaultKind.BAD_ANSWER


STREAM = raw(
    event("response.output_item.added", output_index=0, item={"type": "reasoning"}),
    event("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Où"),
    event("response.reasoning_summary_text.delta", output_index=0, summary_index=1, delta="北"),
    HELLO,
    event("response.output_item.added", output_index=2, item=CALL),
    event("response.function_call_arguments.delta", output_index=2, delta="{}"),
    completed(usage={"input_tokens": 1, "output_tokens": 1}),
)


def _all(pieces: list[bytes]) -> list[Event]:
    reader = event_stream(context())
    told = [reader.read(piece) for piece in pieces]
    assert all(batch.fault is None for batch in (*told, reader.close()))
    return [event for batch in told for event in batch.events]


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_any_cutting_of_the_bytes_gives_the_same_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in pairwise(places)]
    whole = _all([STREAM])
    assert ThinkingDelta("\n\n北") in whole
    assert _all(pieces) == whole


@given(st.integers(0, len(STREAM) - 1))
def test_a_stream_cut_anywhere_never_ends_like_a_good_one(length: int) -> None:
    reader = event_stream(context())
    first = reader.read(STREAM[:length])
    last = reader.close()
    whole = any(isinstance(each, Stopped) for each in first.events + last.events)
    assert whole == (length >= len(STREAM) - 2)
    assert (last.fault is None) == whole

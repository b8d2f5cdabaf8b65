"""A Converse stream, read from its binary frames."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.converse.bedrock import (
    CLAUDE,
    METADATA,
    START,
    USAGE,
    call,
    context,
    delta,
    end,
    stop,
    stream,
)
from zurelay.chat.events import (
    Event,
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
from zurelay.chat.faults import FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.converse import reply
from zurelay.formats.converse.stream import ConverseEvents
from zurelay.formats.fold import EventFold
from zurelay.formats.translate import Events
from zurelay.testing.event_stream import (
    event_stream_event,
    event_stream_exception,
    event_stream_message,
)
from zurelay.wire import json

FULL = [
    START,
    delta(0, reasoningContent={"text": "h"}),
    delta(0, reasoningContent={"text": "m"}),
    delta(0, reasoningContent={"signature": "SIG"}),
    stop(0),
    delta(1, text="Let "),
    delta(1, text="me look"),
    stop(1),
    call(2, "t1", "f"),
    delta(2, toolUse={"input": '{"a"'}),
    delta(2, toolUse={"input": ":1}"}),
    stop(2),
    call(3, "t2", "g"),
    stop(3),
    end("tool_use"),
    METADATA,
]
EVENTS: list[Event] = [
    ThinkingStarted(),
    ThinkingDelta("h"),
    ThinkingDelta("m"),
    ThinkingSigned("SIG", "anthropic/messages"),
    TextDelta("Let "),
    TextDelta("me look"),
    ToolCallStarted(0, "t1", "f"),
    ToolCallDelta(0, '{"a"'),
    ToolCallDelta(0, ":1}"),
    ToolCallStarted(1, "t2", "g"),
    ToolCallDelta(1, "{}"),
    Stopped("tool_calls"),
    UsageSeen(Usage(input=10, output=5)),
]
BODY = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "SIG"}}},
                {"text": "Let me look"},
                {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
                {"toolUse": {"toolUseId": "t2", "name": "g", "input": {}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": USAGE,
}


def run(pieces: list[bytes], **changes: Any) -> tuple[list[Event], list[Events]]:
    reader = ConverseEvents(context(**{"profile": CLAUDE, **changes}))
    batches = [reader.read(piece) for piece in pieces]
    batches.append(reader.close())
    return [event for batch in batches for event in batch.events], batches


def test_a_stream_is_told_event_by_event() -> None:
    events, batches = run(stream(FULL))
    assert events == EVENTS
    assert [batch.ended for batch in batches] == [False] * 15 + [True, True]
    assert all(batch.alive for batch in batches[:-1])
    assert not any(batch.fault for batch in batches)


@given(st.lists(st.integers(0, sum(map(len, stream(FULL)))), max_size=8))
def test_any_cutting_tells_the_same(cuts: list[int]) -> None:
    raw = b"".join(stream(FULL))
    edges = [0, *sorted(cuts), len(raw)]
    events, batches = run([raw[a:b] for a, b in pairwise(edges)])
    assert events == EVENTS
    assert not any(batch.fault for batch in batches)


def test_byte_by_byte_tells_the_same() -> None:
    raw = b"".join(stream(FULL))
    assert run([raw[at : at + 1] for at in range(len(raw))])[0] == EVENTS


def fold(events: list[Event]) -> Reply:
    whole = EventFold()
    for event in events:
        whole.add(event)
    return whole.reply()


def test_folding_the_stream_gives_the_plain_reply() -> None:
    plain = reply.read(json.encode(BODY), context(profile=CLAUDE))
    assert isinstance(plain, Reply)
    assert fold(EVENTS).choices == plain.choices
    assert plain.usage == Usage(input=10, output=5)


PIECES = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4)
BLOCK = st.one_of(
    st.tuples(st.just("text"), PIECES),
    st.tuples(st.just("thinking"), PIECES),
    st.tuples(st.just("call"), st.dictionaries(st.text(max_size=4), st.integers(), max_size=3)),
)


@given(st.lists(BLOCK, max_size=6), st.sampled_from(["end_turn", "tool_use", "max_tokens"]))
def test_folding_any_stream_gives_the_plain_reply(blocks: list[Any], reason: str) -> None:
    told: list[tuple[str, dict[str, Any]]] = [START]
    content: list[dict[str, Any]] = []
    for place, (kind, value) in enumerate(blocks):
        if kind == "text":
            told += [delta(place, text=piece) for piece in value]
            content.append({"text": "".join(value)})
        elif kind == "thinking":
            told += [delta(place, reasoningContent={"text": piece}) for piece in value]
            told.append(delta(place, reasoningContent={"signature": f"S{place}"}))
            thought = {"text": "".join(value), "signature": f"S{place}"}
            content.append({"reasoningContent": {"reasoningText": thought}})
        else:
            told.append(call(place, f"t{place}", "f"))
            if value:
                told.append(delta(place, toolUse={"input": json.encode(value).decode()}))
            content.append({"toolUse": {"toolUseId": f"t{place}", "name": "f", "input": value}})
        told.append(stop(place))
    events, _ = run(stream([*told, end(reason), METADATA]))
    body = {"output": {"message": {"content": content}}, "stopReason": reason, "usage": USAGE}
    plain = reply.read(json.encode(body), context(profile=CLAUDE))
    assert isinstance(plain, Reply)
    assert fold(events).choices == plain.choices


@pytest.mark.parametrize("order", [[end(), METADATA], [METADATA, end()]])
def test_usage_may_come_before_or_after_the_stop(order: list[Any]) -> None:
    events, batches = run(stream([START, delta(0, text="Hi"), *order]))
    assert UsageSeen(Usage(input=10, output=5)) in events
    assert Stopped("stop") in events
    assert batches[-2].ended


def test_without_usage_the_answer_ends_with_its_bytes() -> None:
    events, batches = run(stream([START, delta(0, text="Hi"), end()]))
    assert events[-1] == Stopped("stop")
    assert (batches[-2].ended, batches[-1].ended, batches[-1].fault) == (False, True, None)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_reasons_have_their_words(reason: str, told: Any) -> None:
    assert Stopped(told) in run(stream([delta(0, text="Hi"), end(reason)]))[0]


@pytest.mark.parametrize("reason", ["malformed_model_output", "malformed_tool_use"])
def test_a_broken_end_is_the_models_fault(reason: str) -> None:
    events, batches = run(stream([delta(0, text="Hi"), end(reason), METADATA]))
    fault = next(batch.fault for batch in batches if batch.fault)
    assert fault.kind is FaultKind.MODEL_FAULT
    assert not any(isinstance(event, Stopped) for event in events)


@pytest.mark.parametrize("sent", [0, 2])
def test_an_exception_is_a_fault_wherever_it_comes(sent: int) -> None:
    pieces = [*stream(FULL[:sent]), event_stream_exception("throttlingException", "slow")]
    _, batches = run(pieces)
    fault = batches[sent].fault
    assert fault is not None
    assert (fault.kind, fault.message) == (FaultKind.RATE_LIMITED, "slow")


def test_an_error_message_of_the_stream_is_a_fault() -> None:
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "m"}
    fault = run([event_stream_message(headers, b"")])[1][0].fault
    assert fault is not None
    assert (fault.kind, fault.message) == (FaultKind.SERVER_ERROR, "m")


def test_what_comes_behind_a_complete_answer_changes_nothing() -> None:
    late = event_stream_exception("internalServerException", "late")
    events, batches = run([*stream([delta(0, text="Hi"), end(), delta(0, text="!")]), late])
    assert events == [TextDelta("Hi"), Stopped("stop")]
    assert not any(batch.fault for batch in batches)
    assert batches[-2].ended
    _, batches = run([*stream([delta(0, text="Hi"), end()]), b"\x00" * 20])
    assert (batches[2].fault, batches[2].ended) == (None, True)


@pytest.mark.parametrize("length", [0, 1, 30])
def test_a_stream_that_stops_early_broke_off(length: int) -> None:
    raw = b"".join(stream(FULL[:8]))
    fault = run([raw[: len(raw) - length]])[1][-1].fault
    assert fault is not None
    assert fault.kind is FaultKind.BROKE_OFF


def test_bytes_that_are_no_frames_are_a_broken_answer_after_what_was_whole() -> None:
    pieces = [stream([delta(0, text="Hi")])[0] + b"data: {}\n\n" * 3]
    events, batches = run(pieces)
    assert events == [TextDelta("Hi")]
    assert batches[0].fault is not None
    assert batches[0].fault.kind is FaultKind.BAD_ANSWER


def test_a_payload_that_is_no_json_is_a_broken_answer() -> None:
    headers = {":message-type": "event", ":event-type": "contentBlockDelta"}
    fault = run([event_stream_message(headers, b"{")])[1][0].fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER


def test_unknown_events_are_signs_of_life() -> None:
    events, batches = run([event_stream_event("futureEvent", {"a": 1})])
    assert events == []
    assert batches[0].alive

"""Streams and plain answers of Anthropic as neutral events."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.anthropic import made
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
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.parts import Text, Thinking, ToolCall
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic.back import MessagesBack
from zurelay.formats.anthropic.events import event_stream
from zurelay.formats.base import AnswerContext
from zurelay.formats.fold import EventFold


def read(*pieces: bytes, to: AnswerContext | None = None) -> tuple[list[Event], Fault | None, bool]:
    reader = event_stream(to or made.context())
    events: list[Event] = []
    ended = False
    for piece in pieces:
        batch = reader.read(piece)
        events += batch.events
        ended |= batch.ended
        if batch.fault:
            return events, batch.fault, ended
    batch = reader.close()
    return events + batch.events, batch.fault, ended


RICH_EVENTS: list[Event] = [
    UsageSeen(Usage(input=4, cached_input=2455, output=1)),
    ThinkingStarted(),
    ThinkingDelta("let me "),
    ThinkingDelta("see"),
    ThinkingSigned("SIG", made.ORIGIN),
    TextDelta("北京"),
    TextDelta(" 😀é"),
    ToolCallStarted(0, "toolu_1", "f"),
    ToolCallDelta(0, '{"x"'),
    ToolCallDelta(0, ": 1}"),
    ToolCallStarted(1, "toolu_2", "g"),
    ToolCallDelta(1, "{}"),
    UsageSeen(Usage(input=4, cached_input=2455, output=23)),
    Stopped("tool_calls"),
]


def test_a_stream_with_everything() -> None:
    assert read(made.RICH) == (RICH_EVENTS, None, True)


def test_the_same_byte_by_byte() -> None:
    assert read(*(bytes([b]) for b in made.RICH)) == (RICH_EVENTS, None, True)


@given(st.lists(st.integers(0, len(made.RICH)), max_size=6))
def test_the_same_cut_anywhere(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(made.RICH)]
    pieces = [made.RICH[a:b] for a, b in itertools.pairwise(places)]
    assert read(*pieces) == (RICH_EVENTS, None, True)


PLAIN: dict[str, Any] = {
    "id": "msg_up",
    "type": "message",
    "role": "assistant",
    "model": "upstream-model",
    "content": [
        {"type": "thinking", "thinking": "let me see", "signature": "SIG"},
        {"type": "text", "text": "北京 😀é"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"x": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 2455, "output_tokens": 23},
}


def test_a_plain_answer_is_the_fold_of_its_stream() -> None:
    fold = EventFold()
    usage = None
    for event in RICH_EVENTS:
        fold.add(event)
        usage = event.usage if isinstance(event, UsageSeen) else usage
    plain = MessagesBack().reply(json.dumps(PLAIN).encode(), made.context())
    assert isinstance(plain, Reply)
    assert plain.usage == usage
    parts = plain.choices[0].parts
    assert parts == (
        Thinking("let me see", "SIG", made.ORIGIN),
        Text("北京 😀é"),
        ToolCall("toolu_1", "f", '{"x":1}'),
        ToolCall("toolu_2", "g", "{}"),
    )
    streamed = fold.reply().choices[0].parts
    assert streamed[:2] == parts[:2]
    assert [json.loads(c.arguments) for c in streamed[2:] if isinstance(c, ToolCall)] == [
        {"x": 1},
        {},
    ]


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("end_turn", "stop"),
        ("pause_turn", "stop"),
        ("never_heard_of", "stop"),
        ("tool_use", "stop"),  # without a call
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_stop_reasons(reason: str, found: str) -> None:
    events, _, _ = read(made.start() + made.text(0, "a") + made.stop(reason))
    assert events[-1] == Stopped(found)  # type: ignore[arg-type]


def test_a_matched_sequence_is_named() -> None:
    stream = made.start() + made.text(0, "a") + made.stop("stop_sequence", stop_sequence="END")
    assert read(stream)[0][-1] == Stopped("stop", 0, "END")


def test_calls_always_end_with_calls() -> None:
    events, _, _ = read(made.start() + made.call(0, "t", "f", "{}") + made.stop("end_turn"))
    assert events[-1] == Stopped("tool_calls")


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "I cannot."}
    events, _, _ = read(made.start() + made.stop("refusal", stop_details=details))
    assert events[-2:] == [RefusalDelta("I cannot."), Stopped("content_filter")]


def test_redacted_thinking_is_carried() -> None:
    stream = made.start() + made.block(0, {"type": "redacted_thinking", "data": "D"}) + made.stop()
    assert ThinkingSigned("D", made.ORIGIN, redacted=True) in read(stream)[0]


def test_hidden_thinking_is_a_sign_of_life_with_a_proof() -> None:
    events, _, _ = read(made.start() + made.thinking(0) + made.text(1, "a") + made.stop())
    assert events[1:3] == [ThinkingStarted(), ThinkingSigned("SIG", made.ORIGIN)]


def test_unknown_blocks_events_and_deltas_are_skipped() -> None:
    stream = (
        made.start()
        + made.event("something_new", x=1)
        + made.block(0, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
        + made.block(1, {"type": "web_search_tool_result", "content": []})
        + made.block(2, {"type": "text", "text": ""}, {"type": "citations_delta", "citation": {}})
        + made.text(3, "a")
        + made.stop()
    )
    assert read(stream)[0][1:] == [
        TextDelta("a"),
        UsageSeen(Usage(input=7, output=5)),
        Stopped("stop"),
    ]


def test_renamed_tools_get_their_names_back() -> None:
    stream = made.start() + made.call(0, "t", "f_x_1", "{}") + made.stop("tool_use")
    events, _, _ = read(stream, to=made.context(tool_names={"f_x_1": "f.x"}))
    assert ToolCallStarted(0, "t", "f.x") in events


def test_ids_that_are_missing_or_repeated_are_made() -> None:
    stream = made.start() + made.call(0, "t", "f") + made.call(1, "t", "f") + made.call(2, "", "f")
    events, _, _ = read(stream + made.stop("tool_use"))
    ids = [event.id for event in events if isinstance(event, ToolCallStarted)]
    assert ids[0] == "t"
    assert len(set(ids)) == 3


def test_an_error_event_is_a_fault() -> None:
    error = made.event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    _events, fault, _ = read(made.start() + error)
    assert fault is not None
    assert fault.kind is FaultKind.OVERLOADED
    nameless = error.split(b"\n", 1)[1]
    assert read(nameless)[1] is not None


def test_a_stream_that_ends_early_broke_off() -> None:
    for cut in (b"", made.start(), made.start() + made.text(0, "a")):
        _, fault, _ = read(cut)
        assert fault is not None
        assert fault.kind is FaultKind.BROKE_OFF


def test_a_stop_reason_makes_it_whole_even_without_the_end_mark() -> None:
    whole = made.start() + made.text(0, "a") + made.stop()
    cut = whole[: whole.index(b"event: message_stop")]
    _, fault, ended = read(cut)
    assert (fault, ended) == (None, False)


def test_an_unreadable_event_before_the_first_token_is_a_broken_answer() -> None:
    broken = b"event: x\ndata: {broken\n\n"
    fault = read(made.start() + broken)[1]
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER
    later = made.start() + made.text(0, "a") + broken + made.stop()
    assert read(later)[1] is None


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{broken", b'{"type": "error", "error": {"type": "api_error"}}', b'{"id": 1}'],
)
def test_what_is_no_answer_is_a_fault(body: bytes) -> None:
    assert isinstance(MessagesBack().reply(body, made.context()), Fault)


def test_a_plain_answer_without_content_is_given_on() -> None:
    body = json.dumps({**PLAIN, "content": [], "stop_reason": "max_tokens"}).encode()
    reply = MessagesBack().reply(body, made.context())
    assert isinstance(reply, Reply)
    assert reply.choices == (Choice((), "length"),)

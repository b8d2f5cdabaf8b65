"""Neutral events as a Responses stream: its life cycle, whatever comes in whatever order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, LifeCycle, context, events
from zurelay.chat import problems
from zurelay.chat.events import (
    Event,
    FinishReason,
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
from zurelay.chat.usage import Usage
from zurelay.formats.fold import EventFold
from zurelay.formats.openai_responses.envelope import unseal
from zurelay.formats.openai_responses.hub import ResponsesHubFront
from zurelay.formats.openai_responses.writer import ResponseWriter
from zurelay.wire import json

USED = Usage(input=10, cached_input=20, output=7, reasoning=3)
ASKED: dict[str, Any] = {"tools": [FUNCTION, CUSTOM], "stream": True}
COMMENT = b": told\n\n"


def written(*told: Event, reason: FinishReason = "stop") -> bytes:
    writer = ResponseWriter(context(**ASKED))
    out = b"".join(writer.write([event]) for event in (*told, Stopped(reason)))
    return out + writer.finale(USED, COMMENT)


def types(stream: bytes) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events(stream)]


def test_a_text_has_its_whole_life_cycle() -> None:
    stream = written(TextDelta("He"), TextDelta("llo"))
    assert types(stream) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    cycle = LifeCycle.of(stream)
    (item,) = cycle.response["output"]
    assert item["content"][0]["text"] == "Hello"
    assert cycle.response["usage"] == {
        "input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 37,
    }


def test_the_comment_stands_before_the_last_event() -> None:
    before, _, last = written(TextDelta("Hi")).partition(COMMENT)
    assert before.endswith(b"\n\n")
    assert last.startswith(b"event: response.completed\n")


def test_thinking_comes_first_and_carries_its_proof() -> None:
    signed = ThinkingSigned("SIG", "anthropic/messages")
    cycle = LifeCycle.of(written(ThinkingStarted(), ThinkingDelta("Hm"), signed, TextDelta("Hi")))
    thought, said = cycle.response["output"]
    assert thought["summary"] == [{"type": "summary_text", "text": "Hm"}]
    (found,) = unseal("Hm", thought["encrypted_content"])
    assert (found.text, found.signature, found.origin) == ("Hm", "SIG", "anthropic/messages")
    assert said["type"] == "message"


def test_the_start_of_thinking_says_nothing_yet() -> None:
    assert ResponseWriter(context()).write([ThinkingStarted(), UsageSeen(USED)]) == b""


def test_calls_that_come_interleaved_are_two_items() -> None:
    stream = written(
        ToolCallStarted(0, "A", "f"),
        ToolCallStarted(1, "B", "f"),
        ToolCallDelta(0, '{"x"'),
        ToolCallDelta(1, '{"y"'),
        ToolCallDelta(0, ":1}"),
        ToolCallDelta(1, ":2}"),
        reason="tool_calls",
    )
    calls = [(i["call_id"], i["arguments"]) for i in LifeCycle.of(stream).response["output"]]
    assert calls == [("A", '{"x":1}'), ("B", '{"y":2}')]


def test_a_call_after_a_whole_one_closes_it() -> None:
    stream = written(
        ToolCallStarted(0, "A", "f"),
        ToolCallDelta(0, "{}"),
        ToolCallStarted(1, "B", "f"),
        reason="tool_calls",
    )
    assert types(stream)[4:7] == [
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
    ]


def test_a_custom_tool_gets_the_text_it_was_called_with() -> None:
    stream = written(
        ToolCallStarted(0, "A", "patch"),
        ToolCallDelta(0, '{"input":'),
        ToolCallDelta(0, '"*** Begin\\n"}'),
        reason="tool_calls",
    )
    (item,) = LifeCycle.of(stream).response["output"]
    assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin\n")


def test_a_call_of_a_tool_in_a_namespace_says_both_names_from_the_start() -> None:
    space = {"type": "namespace", "name": "clock", "tools": [FUNCTION, CUSTOM]}
    writer = ResponseWriter(context(tools=[space], stream=True))
    told = (
        ToolCallStarted(0, "A", "clock__f"),
        ToolCallDelta(0, "{}"),
        ToolCallStarted(1, "B", "clock__patch"),
        ToolCallDelta(1, '{"input":"+x"}'),
        Stopped("tool_calls"),
    )
    stream = writer.write(told) + writer.finale(USED, COMMENT)
    begun = [e["item"] for e in events(stream) if e["type"] == "response.output_item.added"]
    whole = LifeCycle.of(stream).response["output"]
    for items in (begun, whole):
        assert [(item["name"], item["namespace"]) for item in items] == [
            ("f", "clock"),
            ("patch", "clock"),
        ]
    assert [item["type"] for item in whole] == ["function_call", "custom_tool_call"]


def test_a_call_with_nothing_is_still_json() -> None:
    (item,) = LifeCycle.of(written(ToolCallStarted(0, "A", "f"))).response["output"]
    assert item["arguments"] == "{}"


def test_a_refusal_is_a_part_of_its_own() -> None:
    (item,) = LifeCycle.of(written(RefusalDelta("No"), RefusalDelta("."))).response["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "No."}]


@pytest.mark.parametrize(
    ("reason", "told"), [("length", "max_output_tokens"), ("content_filter", "content_filter")]
)
def test_an_answer_that_was_cut_is_incomplete(reason: FinishReason, told: str) -> None:
    cycle = LifeCycle.of(written(TextDelta("He"), reason=reason))
    assert cycle.ended == "incomplete"
    assert cycle.response["incomplete_details"] == {"reason": told}
    assert cycle.response["output"][0]["status"] == "incomplete"


def test_an_answer_with_nothing_in_it_still_begins_and_ends() -> None:
    assert types(written(reason="length")) == ["created", "in_progress", "incomplete"]


@pytest.mark.parametrize("told", [[], [TextDelta("He")], [ToolCallStarted(0, "A", "f")]])
def test_a_failure_goes_on_from_what_was_sent(told: list[Event]) -> None:
    writer = ResponseWriter(context(**ASKED))
    stream = writer.write(told) + writer.failure(problems.internal())
    cycle = LifeCycle.of(stream)
    assert types(stream)[:2] == ["created", "in_progress"]
    assert cycle.ended == "failed"
    assert cycle.response["error"]["code"] == "internal_error"


def test_the_response_repeats_what_was_asked_and_stores_nothing() -> None:
    writer = ResponseWriter(context(instructions="Be kind", metadata={"a": "b"}, store=True))
    (created, _) = events(writer.write([TextDelta("x")]))[:2]
    response = created["response"]
    assert (response["id"], response["model"]) == ("resp_1", "public-model")
    assert (response["instructions"], response["metadata"]) == ("Be kind", {"a": "b"})
    assert response["store"] is False
    assert (response["tools"], response["tool_choice"]) == ([], "auto")


PIECES = st.text(min_size=1, max_size=3)
SIGNED = st.builds(
    ThinkingSigned,
    st.just("SIG"),
    st.just("a/b"),
    st.booleans(),
    st.sampled_from([None, "A"]),
)
SAID = st.one_of(
    st.builds(TextDelta, PIECES),
    st.builds(ThinkingDelta, PIECES),
    st.builds(RefusalDelta, PIECES),
    st.builds(ThinkingStarted),
    st.builds(UsageSeen, st.just(USED)),
    SIGNED,
)
CALLED = st.tuples(st.sampled_from(["f", "patch"]), st.sampled_from(['{"a":"1"}', "{}", '{"b']))


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """Any events in any order, but that a call starts before it grows."""
    told: list[Event] = []
    waiting: list[list[Event]] = []
    for index, (name, arguments) in enumerate(draw(st.lists(CALLED, max_size=3))):
        cut = draw(st.integers(0, len(arguments)))
        pieces = [piece for piece in (arguments[:cut], arguments[cut:]) if piece]
        grows = [ToolCallDelta(index, piece) for piece in pieces]
        waiting.append([ToolCallStarted(index, f"call_{index}", name), *grows])
    started = 0
    for _ in range(draw(st.integers(0, 6)) + sum(map(len, waiting))):
        ready = [call for call in waiting[: started + 1] if call]
        calls = draw(st.booleans())
        if ready and calls:
            event = ready[draw(st.integers(0, len(ready) - 1))].pop(0)
            started += isinstance(event, ToolCallStarted)
            told.append(event)
        else:
            told.append(draw(SAID))
    for call in waiting:
        told += call
    return told


@given(answers(), st.sampled_from(["stop", "length", "content_filter"]))
def test_every_stream_lives_by_the_rules_and_folds_into_the_plain_answer(
    told: list[Event], reason: FinishReason
) -> None:
    cycle = LifeCycle.of(written(*told, reason=reason))
    fold = EventFold()
    for event in (*told, Stopped(reason)):
        fold.add(event)
    plain = json.decode(ResponsesHubFront().reply(fold.reply(), USED, context(**ASKED)))
    assert plain == cycle.response

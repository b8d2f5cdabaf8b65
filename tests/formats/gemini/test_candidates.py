"""What the pieces of an answer say."""

from typing import Any

import pytest

from tests.formats.gemini.gemini import ORIGIN, context, piece, run
from zurelay.chat.events import (
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
from zurelay.formats.gemini.candidates import CandidateReader

TEXT = {"text": "Hi"}
CALL = {"functionCall": {"name": "f", "args": {"a": [1]}}}


def test_text_thinking_and_calls_are_told_in_order() -> None:
    ran = run(
        piece({"text": "hm", "thought": True}, {"text": "", "thought": True}),
        piece(TEXT, {**CALL, "thoughtSignature": "SIG"}, finish="STOP"),
    )
    signed = ran.events[3]
    assert isinstance(signed, ThinkingSigned)
    assert ran.events == [
        ThinkingDelta("hm"),
        ThinkingStarted(),
        TextDelta("Hi"),
        ThinkingSigned("SIG", ORIGIN, redacted=True, call_id=signed.call_id),
        ToolCallStarted(0, str(signed.call_id), "f"),
        ToolCallDelta(0, '{"a":[1]}'),
        Stopped("tool_calls"),
    ]
    assert ran.fault is None
    assert ran.ended


def test_a_proof_on_an_empty_text_is_kept() -> None:
    ran = run(piece(TEXT), piece({"text": "", "thoughtSignature": "SIG"}, finish="STOP"))
    assert ran.events == [
        TextDelta("Hi"),
        ThinkingSigned("SIG", ORIGIN, redacted=True),
        Stopped("stop"),
    ]


@pytest.mark.parametrize(
    ("given", "kept"), [("fc-1", True), ("", False), (None, False), (3, False)]
)
def test_calls_keep_their_ids_or_get_fresh_ones(given: Any, kept: bool) -> None:
    call = {"functionCall": {"name": "f", "id": given}}
    ran = run(piece(call, call, finish="STOP"))
    ids = [event.id for event in ran.events if isinstance(event, ToolCallStarted)]
    assert (ids[0] == given) == kept
    assert len(set(ids)) == 2
    again = run(piece(call, call, finish="STOP"))
    assert again.events == ran.events


def test_renamed_tools_are_told_by_the_callers_name() -> None:
    ran = run(piece(CALL, finish="STOP"), tool_names={"f": "9 f"})
    (started,) = [event for event in ran.events if isinstance(event, ToolCallStarted)]
    assert started.name == "9 f"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("OTHER", "stop"),
        ("SOMETHING_NEW", "stop"),
    ],
)
def test_finish_reasons_in_common_words(reason: str, told: str) -> None:
    assert run(piece(TEXT, finish=reason)).events[-1] == Stopped(told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((), "OTHER"),
        ((), "SOMETHING_NEW"),
        ((), "MALFORMED_FUNCTION_CALL"),
        ((TEXT,), "MALFORMED_FUNCTION_CALL"),
        ((), "MISSING_THOUGHT_SIGNATURE"),
        ((TEXT,), "MALFORMED_RESPONSE"),
    ],
)
def test_a_model_that_failed_gives_a_fault(parts: tuple[Any, ...], reason: str) -> None:
    fault = run(piece(*parts, finish=reason)).fault
    assert fault is not None
    assert (fault.kind, fault.code) == (FaultKind.MODEL_FAULT, reason.lower())
    assert fault.moves_on


def test_no_reason_is_no_end() -> None:
    ran = run(piece(TEXT, finish="FINISH_REASON_UNSPECIFIED"))
    assert ran.events == [TextDelta("Hi")]
    assert ran.fault is not None


def test_a_blocked_prompt_is_the_requests_own_fault() -> None:
    fault = run({"promptFeedback": {"blockReason": "JAILBREAK"}}).fault
    assert fault is not None
    assert (fault.kind, fault.code, fault.moves_on) == (
        FaultKind.CONTENT_POLICY,
        "jailbreak",
        False,
    )
    assert run(piece(TEXT, finish="STOP", promptFeedback={"safetyRatings": []})).fault is None
    late = run(piece(TEXT), piece(finish="SAFETY", promptFeedback={"blockReason": "SAFETY"}))
    assert (late.fault, late.events[-1]) == (None, Stopped("content_filter"))


def test_the_last_count_holds_and_only_changes_are_told() -> None:
    counts = [{"promptTokenCount": 5, "candidatesTokenCount": n} for n in (1, 1, 2)]
    ran = run(*(piece(TEXT, usageMetadata=each) for each in counts), piece(finish="STOP"))
    seen = [event.usage for event in ran.events if isinstance(event, UsageSeen)]
    assert seen == [Usage(input=5, output=1), Usage(input=5, output=2)]


def test_several_answers_are_kept_apart() -> None:
    both = {
        "candidates": [
            {"index": 1, "content": {"parts": [CALL]}, "finishReason": "STOP"},
            {"content": {"parts": [{**TEXT, "thoughtSignature": "SIG"}]}, "index": 0},
        ]
    }
    ran = run(both, piece(finish="STOP"))
    assert [event for event in ran.events if isinstance(event, Stopped)] == [
        Stopped("tool_calls", 1),
        Stopped("stop", 0),
    ]
    assert TextDelta("Hi", 0) in ran.events
    assert {event.choice for event in ran.events if isinstance(event, ToolCallStarted)} == {1}
    signed = piece({**CALL, "thoughtSignature": "SIG"}, finish="STOP", index=1)
    assert not [event for event in run(signed).events if isinstance(event, ThinkingSigned)]


def test_one_whole_answer_of_two_is_not_the_end() -> None:
    both = {"candidates": [*piece(TEXT)["candidates"], *piece(TEXT, index=1)["candidates"]]}
    ran = run(both, piece(finish="STOP"))
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.BROKE_OFF


def test_what_comes_after_the_end_of_an_answer_is_not_told() -> None:
    ran = run(piece(TEXT, finish="STOP"), piece(TEXT, finish="MAX_TOKENS"))
    assert ran.events == [TextDelta("Hi"), Stopped("stop")]


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": None},
        {"candidates": [None, 3]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"candidates": [{"content": {"parts": [3, {}, {"text": 5}, {"functionCall": {}}]}}]},
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": 3}}, {"inlineData": {}}]}}
            ]
        },
        {"candidates": [{"index": "x"}]},
        {"promptFeedback": 3, "usageMetadata": 4},
        {},
    ],
)
def test_odd_pieces_say_nothing(odd: Any) -> None:
    reader = CandidateReader(context())
    assert reader.event(odd) == []
    assert not reader.begun

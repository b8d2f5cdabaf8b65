from zurelay.chat.events import (
    Event,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.sandbox.blocks import gather
from zurelay.sandbox.script import Beat


def beats(*events: Event) -> list[Beat]:
    return [Beat(float(at), event) for at, event in enumerate(events)]


def test_tokens_of_a_kind_are_one_block() -> None:
    told = gather(beats(ThinkingDelta("a"), ThinkingDelta("b"), TextDelta("c"), Stopped("stop")))
    assert [(b.kind, b.text, b.at, b.ends_at) for b in told.blocks] == [
        ("thinking", "ab", 0, 1),
        ("text", "c", 2, 2),
    ]
    assert all(block.done for block in told.blocks)
    assert told.stopped == Stopped("stop")


def test_each_call_is_a_block() -> None:
    told = gather(
        beats(
            ToolCallStarted(0, "x", "f"),
            ToolCallDelta(0, "{}"),
            ToolCallStarted(1, "y", "g"),
            ToolCallDelta(1, "{}"),
            Stopped("tool_calls"),
        )
    )
    assert [(b.call_id, b.name, b.text) for b in told.blocks] == [
        ("x", "f", "{}"),
        ("y", "g", "{}"),
    ]


def test_the_last_block_of_a_broken_answer_is_not_done() -> None:
    told = gather(beats(ThinkingDelta("a"), TextDelta("b")))
    assert [block.done for block in told.blocks] == [True, False]
    assert told.stopped is None


def test_choices_are_kept_apart() -> None:
    events = beats(TextDelta("a"), TextDelta("b", 1), Stopped("stop"), Stopped("length", 1))
    told = gather(events, 1)
    assert [block.text for block in told.blocks] == ["b"]
    assert told.stopped == Stopped("length", 1)

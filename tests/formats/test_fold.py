"""Neutral events fold into the reply they are."""

import pytest

from zurelay.chat.events import (
    Choice,
    Event,
    Reply,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.parts import Text, Thinking, ToolCall
from zurelay.chat.usage import Usage
from zurelay.formats.fold import EventFold


def fold(*events: Event) -> EventFold:
    made = EventFold()
    for event in events:
        made.add(event)
    return made


def test_pieces_join_and_blocks_keep_their_order() -> None:
    reply = fold(
        ThinkingDelta("a"),
        ThinkingDelta("b"),
        ThinkingSigned("S", "v"),
        ThinkingDelta("c"),
        TextDelta("x"),
        TextDelta("y"),
        ToolCallStarted(0, "i", "f"),
        ToolCallStarted(1, "j", "g"),
        ToolCallDelta(0, "{"),
        ToolCallDelta(1, "[]"),
        ToolCallDelta(0, "}"),
        Stopped("tool_calls"),
    ).reply()
    parts = (
        Thinking("ab", "S", "v"),
        Thinking("c"),
        Text("xy"),
        ToolCall("i", "f", "{}"),
        ToolCall("j", "g", "[]"),
    )
    assert reply == Reply((Choice(parts, "tool_calls"),))


def test_the_last_count_is_the_reply_s() -> None:
    events = (UsageSeen(Usage(input=3)), TextDelta("x"), UsageSeen(Usage(input=3, output=1)))
    reply = fold(*events).reply()
    assert reply.usage == Usage(input=3, output=1)
    assert len(reply.choices) == 1
    assert EventFold.of(reply).reply() == reply


def test_a_reply_folds_into_itself_and_is_cut_at_stops() -> None:
    reply = Reply((Choice((Text("one END two"), ToolCall("i", "f", "{}")), "length"),))
    assert EventFold.of(reply).reply() == reply
    cut = EventFold.of(reply)
    assert cut.reply(("END",)) == Reply((Choice((Text("one "),), "stop", "END"),))
    assert cut.delivered == 4
    assert not cut.nothing


@pytest.mark.parametrize(("reason", "nothing"), [("stop", True), ("length", False)])
def test_nothing_is_known(reason: str, nothing: bool) -> None:
    made = fold(Stopped(reason))  # type: ignore[arg-type]
    made.reply()
    assert made.nothing is nothing

"""Blocks of an answer that say little, twice, or something unusual."""

from tests.formats.converse.bedrock import CLAUDE, call, context, delta, stop
from zurelay.chat.events import (
    TextDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.formats.converse.blocks import BlockReader


def started(reader: BlockReader, place: int, call_id: str, name: str = "f") -> ToolCallStarted:
    (event,) = reader.start(call(place, call_id, name)[1])
    assert isinstance(event, ToolCallStarted)
    return event


def test_ids_are_ours_where_they_are_missing_or_seen_before() -> None:
    reader = BlockReader(context())
    ids = [started(reader, place, told).id for place, told in enumerate(("t", "t", ""))]
    assert ids[0] == "t"
    assert len(set(ids)) == 3
    assert all(each.startswith("call_") for each in ids[1:])


def test_tools_have_the_callers_names() -> None:
    reader = BlockReader(context(tool_names={"a_b_x": "a.b"}))
    assert started(reader, 0, "t", "a_b_x").name == "a.b"


def test_what_cannot_be_placed_is_left_out() -> None:
    reader = BlockReader(context())
    assert reader.start({"contentBlockIndex": 0, "start": {"image": {}}}) == []
    assert reader.delta(delta(7, toolUse={"input": "{}"})[1]) == []
    assert reader.delta(delta(0, citation={"title": "t"})[1]) == []
    assert reader.stop(stop(0)[1]) == []
    assert not reader.begun


def test_a_call_still_open_at_the_end_gets_its_empty_arguments() -> None:
    reader = BlockReader(context())
    started(reader, 0, "t")
    told = reader.last("max_tokens")
    assert isinstance(told, list)
    assert told[0] == ToolCallDelta(0, "{}")


def test_hidden_thinking_is_told_whole_and_marked_as_this_formats() -> None:
    reader = BlockReader(context(profile=CLAUDE))
    told = reader.delta(delta(0, reasoningContent={"redactedContent": "QUJD"})[1])
    signed = ThinkingSigned("QUJD", "claude/converse", redacted=True)
    assert told == [ThinkingStarted(), signed]
    whole = BlockReader(context(profile=CLAUDE))
    assert whole.whole(0, {"reasoningContent": {"redactedContent": "QUJD"}}) == told


def test_text_with_citations_is_text() -> None:
    block = {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": []}}
    assert BlockReader(context()).whole(0, block) == [TextDelta("ab")]


def test_thinking_that_is_not_shared_is_a_sign_of_life_alone() -> None:
    block = {"reasoningContent": {"reasoningText": {"text": "[REDACTED]"}}}
    reader = BlockReader(context())
    assert reader.whole(0, block) == [ThinkingStarted()]
    assert not reader.begun

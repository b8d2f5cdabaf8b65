"""Items of an answer: told once, in whatever pieces they come."""

from typing import Any

import pytest

from zurelay.chat.events import (
    RefusalDelta,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.formats.openai_responses.items import ItemReader

CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}


def reader() -> ItemReader:
    return ItemReader("openai/responses", lambda call: f"minted_{call}")


def test_a_reasoning_item_is_a_sign_of_life_and_its_proof_comes_from_the_whole_item() -> None:
    items = reader()
    half = {"type": "reasoning", "encrypted_content": "half"}
    assert items.added({"output_index": 0, "item": half}) == [ThinkingStarted()]
    assert not items.any
    whole = {"type": "reasoning", "summary": [], "encrypted_content": "whole"}
    assert items.done({"output_index": 0, "item": whole}) == [
        ThinkingSigned("whole", "openai/responses", redacted=True)
    ]


def test_parts_of_thinking_are_set_apart_across_items() -> None:
    items = reader()
    told = [
        items.thinking({"output_index": 0, "summary_index": 0, "delta": "a"}, "summary"),
        items.thinking({"output_index": 0, "summary_index": 0, "delta": "b"}, "summary"),
        items.thinking({"output_index": 0, "summary_index": 1, "delta": "c"}, "summary"),
        items.thinking({"output_index": 2, "summary_index": 0, "delta": "d"}, "summary"),
    ]
    assert [event for events in told for event in events] == [
        ThinkingDelta("a"),
        ThinkingDelta("b"),
        ThinkingDelta("\n\nc"),
        ThinkingDelta("\n\nd"),
    ]


def test_of_summary_and_full_thinking_one_is_told() -> None:
    items = reader()
    assert items.thinking({"output_index": 0, "delta": "full"}, "thinking")
    assert items.thinking({"output_index": 0, "delta": "short"}, "summary") == []
    whole = {"content": [{"text": "full"}], "summary": [{"text": "short"}], "type": "reasoning"}
    assert items.done({"output_index": 0, "item": whole}) == []


def test_a_whole_item_with_both_tells_the_fuller_one() -> None:
    whole = {"type": "reasoning", "content": [{"text": "full"}], "summary": [{"text": "short"}]}
    assert reader().done({"output_index": 0, "item": whole}) == [ThinkingDelta("full")]


def test_empty_pieces_tell_nothing() -> None:
    items = reader()
    assert items.thinking({"output_index": 0, "delta": ""}, "summary") == []
    assert items.text({"output_index": 0, "delta": None}, "text") == []
    assert items.arguments({"output_index": 0, "delta": ""}) == []
    assert not items.any


def test_a_call_never_added_starts_once_its_name_is_known() -> None:
    items = reader()
    assert items.arguments({"output_index": 0, "delta": '{"a"'}) == []
    assert items.arguments({"output_index": 0, "delta": ":1}"}) == []
    whole = {**CALL, "arguments": '{"a":1}'}
    assert items.done({"output_index": 0, "item": whole}) == [
        ToolCallStarted(0, "call_1", "f"),
        ToolCallDelta(0, '{"a":1}'),
    ]
    assert items.done({"output_index": 0, "item": whole}) == []


def test_a_call_known_by_its_last_arguments_event() -> None:
    items = reader()
    event = {"output_index": 0, "name": "f", "arguments": "{}", "item_id": "fc_1"}
    assert items.arguments_done(event) == [
        ToolCallStarted(0, "minted_0", "f"),
        ToolCallDelta(0, "{}"),
    ]
    assert items.arguments_done(event) == []


@pytest.mark.parametrize("call_id", ["", None, 7])
def test_ids_that_are_missing_are_minted(call_id: Any) -> None:
    items = reader()
    started = items.added({"output_index": 0, "item": {**CALL, "call_id": call_id}})
    assert started == [ToolCallStarted(0, "minted_0", "f")]


def test_ids_that_repeat_are_minted() -> None:
    items = reader()
    items.added({"output_index": 0, "item": CALL})
    assert items.added({"output_index": 1, "item": CALL}) == [ToolCallStarted(1, "minted_1", "f")]


def test_interleaved_calls_are_kept_apart_by_place_even_where_ids_change() -> None:
    items = reader()
    items.added({"output_index": 0, "item": CALL})
    items.added({"output_index": 1, "item": {**CALL, "call_id": "call_2"}})
    assert items.arguments({"output_index": 1, "item_id": "x", "delta": "b"}) == [
        ToolCallDelta(1, "b")
    ]
    assert items.arguments({"output_index": 0, "item_id": "y", "delta": "a"}) == [
        ToolCallDelta(0, "a")
    ]


def test_without_a_place_the_id_tells_and_without_both_the_last_item() -> None:
    items = reader()
    items.added({"item": {**CALL, "id": "fc_1"}})
    items.added({"item": {**CALL, "id": "fc_2", "call_id": "call_2"}})
    assert items.arguments({"item_id": "fc_1", "delta": "a"}) == [ToolCallDelta(0, "a")]
    assert items.arguments({"delta": "b"}) == [ToolCallDelta(1, "b")]


def test_refusals_and_texts_are_told_by_deltas_or_by_the_whole() -> None:
    items = reader()
    assert items.text({"output_index": 0, "delta": "No"}, "refusal") == [RefusalDelta("No")]
    assert items.part_done({"output_index": 0, "refusal": "No"}, "refusal") == []
    assert items.part_done({"output_index": 1, "text": "Hi"}, "text") == [TextDelta("Hi")]
    both = [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": "No"}]
    assert items.done({"output_index": 2, "item": {"type": "message", "content": both}}) == [
        TextDelta("Hi"),
        RefusalDelta("No"),
    ]


def test_items_of_other_kinds_tell_nothing() -> None:
    assert reader().done({"output_index": 0, "item": {"type": "web_search_call"}}) == []
    assert reader().done({"output_index": 0, "item": None}) == []


def test_an_item_that_is_done_twice_is_told_once() -> None:
    items = reader()
    whole = {"type": "reasoning", "summary": [], "encrypted_content": "proof"}
    assert items.done({"output_index": 0, "item": whole})
    assert items.done({"output_index": 0, "item": whole}) == []


def test_deltas_without_a_place_are_not_told_again_by_the_whole_item() -> None:
    items = reader()
    assert items.thinking({"delta": "Hm"}, "summary") == [ThinkingDelta("Hm")]
    assert items.text({"delta": "Hi"}, "text") == [TextDelta("Hi")]
    thought = {"type": "reasoning", "summary": [{"text": "Hm"}]}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    assert items.done({"output_index": 0, "item": thought}) == []
    assert items.done({"output_index": 1, "item": said}) == []

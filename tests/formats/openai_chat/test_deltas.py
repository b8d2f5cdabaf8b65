"""One choice's deltas: normal form, and nothing changed that is in it already."""

from typing import Any

import pytest

from zurelay.formats.openai_chat.deltas import ChoiceReader


def reader(stops: tuple[str, ...] = (), think_tags: bool = False) -> ChoiceReader:
    begun = ChoiceReader(0, lambda index: f"minted{index}", stops, think_tags)
    begun.read(choice({"role": "assistant", "content": ""}))
    return begun


def choice(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish, **more}


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"content": ""},
        {},
        {"content": None, "reasoning_content": "r"},
        {"content": "a", "reasoning_content": None, "refusal": None, "tool_calls": None},
        {"refusal": "no"},
        {"content": "a", "some_future_field": [1]},
    ],
)
def test_normal_deltas_stay_equal(delta: Any) -> None:
    whole = choice(delta, logprobs=None)
    assert reader().read(whole) == whole


@pytest.mark.parametrize(
    ("delta", "token"),
    [({"content": "a"}, True), ({"content": ""}, False), ({}, False), ({"reasoning": "r"}, True),
     ({"refusal": "n"}, True), ({"function_call": {"name": "f"}}, True), ({"role": "assistant"}, False),
     ({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}, True)],
)  # fmt: skip
def test_tokens_are_text_thinking_refusals_and_calls(delta: Any, token: bool) -> None:
    begun = reader()
    begun.read(choice(delta))
    assert begun.token is token


@pytest.mark.parametrize(
    "delta", [{"role": "assistant"}, {"content": 5}, {"content": {}}, {"reasoning": ""}]
)
def test_what_says_nothing_is_dropped(delta: Any) -> None:
    assert reader().read(choice(delta)) is None


def test_a_choice_may_pass_unread_only_while_nothing_cuts_or_parts_it() -> None:
    assert reader().passes
    assert not reader(stops=("x",)).passes
    tagged = reader(think_tags=True)
    passed = [tagged.passes]
    for event in (choice({"content": "plain"}), choice({}, "stop")):
        tagged.read(event)
        passed.append(tagged.passes)
    assert passed == [False, True, False]


def test_a_stop_word_of_the_server_explains_an_empty_answer() -> None:
    begun = reader()
    begun.read(choice({}, "stop", stop_reason="END"))
    assert begun.matched_stop


def test_proofs_are_marked_with_where_they_came_from() -> None:
    reader = ChoiceReader(0, lambda index: f"minted{index}", (), False, "openrouter")
    details = [
        {"type": "reasoning.text", "text": "t", "signature": "S", "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "D"},
    ]
    read = reader.read({"index": 0, "delta": {"reasoning_details": details}})
    assert read is not None
    marks = [item["format"] for item in read["delta"]["reasoning_details"]]
    assert marks == ["openrouter/anthropic-claude-v1", "openrouter/unknown"]

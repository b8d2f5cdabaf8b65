"""The order of turns that Messages insists on, seen from Chat Completions."""

from typing import Any

import pytest

from tests.formats.anthropic.made import target, written
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic.turns import NO_RESULT

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "r1"}
TOOLS = [{"type": "function", "function": {"name": "f"}}]


def messages(*conversation: dict[str, Any], **options: Any) -> list[tuple[str, list[Any]]]:
    body, _ = written(messages=list(conversation), tools=TOOLS, **options)
    return [(m["role"], [_short(block) for block in m["content"]]) for m in body["messages"]]


def _short(block: dict[str, Any]) -> Any:
    return block.get("text") or block.get("tool_use_id") or block.get("id") or block["type"]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_neighbours_are_merged_and_results_stand_first() -> None:
    assert messages(
        user("A"),
        user("B"),
        {"role": "assistant", "content": "x", "tool_calls": [CALL]},
        RESULT,
        user("C"),
        user("D"),
    ) == [("user", ["A", "B"]), ("assistant", ["x", "call_1"]), ("user", ["call_1", "C", "D"])]


@pytest.mark.parametrize("content", ["", None, [{"type": "text", "text": ""}], " \n"])
def test_a_call_without_text_has_no_text_block(content: Any) -> None:
    turn = {"role": "assistant", "content": content, "tool_calls": [CALL]}
    assert messages(user("go"), turn, RESULT)[1] == ("assistant", ["call_1"])


def test_empty_texts_are_left_out_and_an_empty_turn_says_a_dot() -> None:
    parts = [{"type": "text", "text": ""}, {"type": "text", "text": "x"}]
    assert messages({"role": "user", "content": parts}) == [("user", ["x"])]
    assert messages(user(" ")) == [("user", ["."])]
    body, _ = written(messages=[{"role": "system", "content": ""}, user("hi")])
    assert "system" not in body


def test_an_assistant_turn_that_says_nothing_is_left_out() -> None:
    assert messages(user("a"), {"role": "assistant", "content": ""}, user("b")) == [
        ("user", ["a", "b"])
    ]


def test_the_first_turn_is_the_users() -> None:
    turns = messages({"role": "assistant", "content": "hello"}, user("hi"))
    assert turns == [("user", ["."]), ("assistant", ["hello"]), ("user", ["hi"])]


def test_leading_instructions_become_the_system_prompt_and_late_ones_keep_their_place() -> None:
    conversation = [
        {"role": "system", "content": "S1"},
        {"role": "developer", "content": "S2"},
        user("u1"),
        {"role": "assistant", "content": "a1"},
        {"role": "system", "content": "S3"},
        user("u2"),
    ]
    body, _ = written(messages=conversation)
    assert [block["text"] for block in body["system"]] == ["S1", "S2"]
    assert messages(*conversation)[2] == ("user", ["<system>S3</system>", "u2"])


def test_an_instruction_before_the_assistant_is_an_entry_where_the_model_takes_it() -> None:
    conversation = [user("u1"), {"role": "system", "content": "S"}]
    assert messages(*conversation) == [("user", ["u1"]), ("system", ["S"])]
    old = messages(*conversation, to=target("claude-sonnet-5"))
    assert old == [("user", ["u1", "<system>S</system>"])]


def test_an_instruction_between_a_call_and_its_result_waits_for_the_result() -> None:
    turn = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    turns = messages(user("go"), turn, {"role": "system", "content": "S"}, RESULT)
    assert turns[2] == ("user", ["call_1", "<system>S</system>"])


def test_an_interrupted_call_gets_a_result_of_its_own() -> None:
    calls = [CALL, {**CALL, "id": "call_2"}]
    body, _ = written(
        messages=[
            user("go"),
            {"role": "assistant", "content": None, "tool_calls": calls},
            RESULT,
            user("never mind"),
        ],
        tools=TOOLS,
    )
    last = body["messages"][-1]["content"]
    assert [block.get("tool_use_id") for block in last] == ["call_1", "call_2", None]
    assert last[1] == {
        "type": "tool_result",
        "tool_use_id": "call_2",
        "content": NO_RESULT,
        "is_error": True,
    }


def test_results_stand_in_the_order_of_the_calls_and_a_lost_one_is_told() -> None:
    calls = [CALL, {**CALL, "id": "call_2"}]
    turns = messages(
        user("go"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {**RESULT, "tool_call_id": "call_2"},
        {**RESULT, "tool_call_id": "lost", "content": "old"},
        RESULT,
    )
    told = "Result of the earlier tool call lost:"
    assert turns[2] == ("user", ["call_1", "call_2", told, "old"])


def test_a_conversation_that_ends_with_the_assistant_needs_a_model_that_goes_on() -> None:
    conversation = [user("count"), {"role": "assistant", "content": "1, 2, "}]
    with pytest.raises(Refused) as refused:
        written(messages=conversation)
    assert refused.value.problem.status == 400
    body, _ = written(messages=conversation, to=target("claude-haiku-4-5"))
    assert body["messages"][-1]["content"] == [{"type": "text", "text": "1, 2,"}]


def test_a_longer_conversation_starts_with_the_blocks_of_the_shorter_one() -> None:
    turns: list[dict[str, Any]] = [
        {"role": "system", "content": "S"},
        user("a"),
        {"role": "assistant", "content": "b", "tool_calls": [CALL]},
        RESULT,
        {"role": "system", "content": "late"},
        {"role": "assistant", "content": "c"},
        user("d"),
        {"role": "assistant", "content": "e"},
        user("f"),
    ]
    long, _ = written(messages=turns, tools=TOOLS)
    for length in (2, 4, 5, 7):
        short, _ = written(messages=turns[:length], tools=TOOLS)
        count = len(short["messages"])
        assert long["messages"][:count] == short["messages"]
        assert long["system"] == short["system"]

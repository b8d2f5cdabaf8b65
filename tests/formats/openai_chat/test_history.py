"""Edits of messages: only what must change, the same in every turn."""

import json
from typing import Any

import pytest

from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.openai_chat import edit
from zurelay.formats.openai_chat.front import ChatFront

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL = {"id": "call 1!", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call 1!", "content": "r"}


def sent(messages: list[Any], **profile: Any) -> Any:
    raw = json.dumps({"model": "m", "messages": messages}).encode()
    out = edit.write(ChatFront().read(raw), Target("p", "u", Profile(**profile)))
    return json.loads(out.body)["messages"]


def test_untouched_messages_keep_their_bytes() -> None:
    raw = b'{"model":"m","messages":[{"role":"developer","content":"S"},{"role":"user","content": "\\u0041" , "k":1.0}]}'
    body = edit.write(ChatFront().read(raw), Target("p", "u", Profile())).body
    assert b'"content":"\\u0041","k":1.0' in body
    assert b'"role":"system"' in body
    kept = edit.write(ChatFront().read(raw), Target("p", "u", Profile(developer_role=True))).body
    assert (
        b'{"role":"developer","content":"S"},{"role":"user","content": "\\u0041" , "k":1.0}' in kept
    )


def test_names_go_where_they_are_refused() -> None:
    messages = [{**USER, "name": "bob"}, {"role": "assistant", "content": "x", "name": None}]
    raw = json.dumps({"model": "m", "messages": messages}).encode()
    out = edit.write(ChatFront().read(raw), Target("p", "u", Profile(drops_message_names=True)))
    assert json.loads(out.body)["messages"] == [USER, {"role": "assistant", "content": "x"}]
    assert out.dropped == ("messages[].name",)


def test_text_parts_become_strings_where_wanted() -> None:
    texts = {
        "role": "user",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    }
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    mixed = {"role": "user", "content": [{"type": "text", "text": "a"}, image]}
    assert sent([texts, mixed, USER], string_content=True) == [
        {**USER, "content": "a\n\nb"},
        mixed,
        USER,
    ]
    assert sent([texts]) == [texts]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_details"])
def test_thinking_is_sent_back_in_the_field_the_provider_reads(name: str) -> None:
    value: Any = "R1" if name != "reasoning_details" else [{"type": "reasoning.text", "text": "R1"}]
    message = {"role": "assistant", "content": "x", name: value}
    plain = {"role": "assistant", "content": "x"}
    assert sent([USER, message])[1] == plain
    for wanted in ("reasoning_content", "reasoning"):
        assert sent([USER, message], reasoning_in=wanted)[1] == {**plain, wanted: "R1"}
    details = sent([USER, message], reasoning_in="reasoning_details")[1]["reasoning_details"]
    assert details == [{"type": "reasoning.text", "text": "R1"}]


def test_a_proof_gets_its_text_back() -> None:
    proof = {"type": "reasoning.text", "signature": "S", "format": "f"}
    message = {**CALLS, "reasoning_content": "R1", "reasoning_details": [proof]}
    got = sent([USER, message], reasoning_in="reasoning_details")[1]
    assert got["reasoning_details"] == [{**proof, "text": "R1"}]
    assert "reasoning_content" not in got
    two = {**message, "reasoning_details": [proof, {**proof, "signature": "T"}]}
    assert "reasoning_details" not in sent([USER, two], reasoning_in="reasoning_details")[1]
    whole = {**message, "reasoning_details": [{**proof, "text": "R0"}]}
    assert sent([USER, whole], reasoning_in="reasoning_details")[1]["reasoning_details"] == [
        {**proof, "text": "R0"}
    ]


def test_lost_thinking_of_tool_calls_gets_the_placeholder() -> None:
    quirks = {"reasoning_in": "reasoning_content", "reasoning_placeholder": " "}
    got = sent([USER, CALLS, RESULT, {"role": "assistant", "content": "x"}], **quirks)
    assert got[1]["reasoning_content"] == " "
    assert "reasoning_content" not in got[3]
    kept = {**CALLS, "reasoning": "R"}
    assert sent([USER, kept], **quirks)[1]["reasoning_content"] == "R"
    empty = {"reasoning_in": "reasoning_content", "reasoning_placeholder": ""}
    assert sent([USER, CALLS], **empty)[1]["reasoning_content"] == ""


@pytest.mark.parametrize(("rule", "size"), [("max64", 29), ("mistral9", 9)])
def test_tool_ids_are_made_legal_alike_in_call_and_result(rule: str, size: int) -> None:
    got = sent([USER, CALLS, RESULT], tool_ids=rule)
    call_id = got[1]["tool_calls"][0]["id"]
    assert call_id == got[2]["tool_call_id"] != "call 1!"
    assert len(call_id) == size
    assert sent([USER, CALLS, RESULT])[1:] == [CALLS, RESULT]


def test_stream_keys_and_empty_call_lists_go() -> None:
    message = {**CALLS, "tool_calls": [{"index": 0, **CALL}]}
    assert sent([USER, message])[1] == CALLS
    assert sent([USER, {"role": "assistant", "content": "x", "tool_calls": []}])[1] == {
        "role": "assistant",
        "content": "x",
    }


def test_one_system_message_where_templates_take_one() -> None:
    s = [{"role": r, "content": c} for r, c in (("system", "S1"), ("developer", "S2"))]
    late = {"role": "system", "content": [{"type": "text", "text": "S3"}]}
    got = sent([*s, USER, {"role": "assistant", "content": "a"}, late, USER], single_system=True)
    assert [m["role"] for m in got] == ["system", "user", "assistant", "user", "user"]
    assert got[0]["content"] == "S1\n\nS2"
    assert got[3]["content"] == "<system>S3</system>"


def test_an_assistant_turn_stands_between_result_and_user_where_needed() -> None:
    got = sent([USER, CALLS, RESULT, USER], user_after_tool=False)
    assert [m["role"] for m in got] == ["user", "assistant", "tool", "assistant", "user"]


def test_turns_read_the_same_when_the_conversation_grows() -> None:
    quirks = {
        "reasoning_in": "reasoning",
        "tool_ids": "mistral9",
        "single_system": True,
        "user_after_tool": False,
        "string_content": True,
    }
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "S"}]},
        USER,
        {**CALLS, "reasoning_content": "R"},
        RESULT,
        USER,
        {"role": "system", "content": "late"},
        {"role": "assistant", "content": "x"},
        USER,
    ]
    whole = sent(messages, **quirks)
    for length in range(2, len(messages)):
        part = sent(messages[:length], **quirks)
        assert whole[: len(part)] == part


@pytest.mark.parametrize("wanted", ["reasoning_details", "reasoning_content", "reasoning"])
def test_thinking_of_another_vendor_is_dropped_whole(wanted: Any) -> None:
    proof = {"type": "reasoning.encrypted", "data": "S", "format": "openai/responses"}
    message = {**CALLS, "reasoning_content": "R1", "reasoning_details": [proof]}
    got = sent([USER, message], reasoning_in=wanted, realm="openrouter")[1]
    assert "R1" not in str(got)
    assert "S" not in got.get("reasoning_details", "")
    lost = sent([USER, message], reasoning_in=wanted, realm="deepseek", reasoning_placeholder="")[1]
    assert lost.get(wanted, "") == ""


def test_proofs_go_back_as_they_came_from_the_same_realm() -> None:
    proof = {"type": "reasoning.encrypted", "data": "S", "format": "openrouter/xai-responses-v1"}
    message = {**CALLS, "reasoning_details": [proof]}
    got = sent([USER, message], reasoning_in="reasoning_details", realm="openrouter")[1]
    assert got["reasoning_details"] == [{**proof, "format": "xai-responses-v1"}]

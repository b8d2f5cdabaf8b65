"""Turns as Converse messages."""

from typing import Any

import pytest

from tests.formats.converse.bedrock import CLAUDE, PLAIN, faults
from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import Role, Turn
from zurelay.formats.converse.messages import NO_RESULT, Writer

PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjcK"
HI = {"text": "Hi"}


def turn(role: Role, *parts: Part | str) -> Turn:
    return Turn(role, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def written(*turns: Turn, profile: Profile = PLAIN) -> tuple[list[Any], Writer, list[str]]:
    dropped: list[str] = []
    writer = Writer(profile, dropped)
    messages = writer.messages(turns)
    assert faults({"messages": messages, "system": writer.system}) == ""
    return messages, writer, dropped


def users(*parts: Part | str, profile: Profile = PLAIN) -> list[Any]:
    messages, _, _ = written(turn("user", *parts), profile=profile)
    assert len(messages) == 1
    content: list[Any] = messages[0]["content"]
    return content


def test_instructions_at_the_start_are_the_system_prompt_and_later_ones_keep_their_place() -> None:
    messages, writer, _ = written(
        turn("system", "A", " "),
        turn("developer", "B"),
        turn("user", "Hi"),
        turn("system", "C"),
        turn("user", "there"),
    )
    assert writer.system == [{"text": "A"}, {"text": "B"}]
    assert messages == [
        {"role": "user", "content": [HI, {"text": "<system>C</system>"}, {"text": "there"}]}
    ]


def test_neighbours_of_one_role_are_merged_and_the_user_speaks_first() -> None:
    messages, writer, _ = written(
        turn("assistant", "a"), turn("assistant", "b"), turn("user", "c"), turn("user", "d")
    )
    assert messages == [
        {"role": "user", "content": [{"text": "."}]},
        {"role": "assistant", "content": [{"text": "a"}, {"text": "b"}]},
        {"role": "user", "content": [{"text": "c"}, {"text": "d"}]},
    ]
    assert not writer.prefill


def test_only_instructions_still_make_a_message() -> None:
    messages, writer, _ = written(turn("system", "S"))
    assert (messages, writer.system) == (
        [{"role": "user", "content": [{"text": "."}]}],
        [{"text": "S"}],
    )


def test_turns_that_say_nothing_are_left_out() -> None:
    messages, _, _ = written(
        turn("user", "Hi"),
        turn("assistant", " ", Thinking("x", "S", "bedrock/converse")),
        turn("user", "there", "\n"),
    )
    assert messages == [{"role": "user", "content": [HI, {"text": "there"}]}]


CALLS = turn("assistant", ToolCall("c 1", "f", '{"a": 1}'), ToolCall("d", "g", ""))


def test_results_stand_first_in_the_order_of_the_calls_and_a_late_instruction_waits() -> None:
    messages, writer, _ = written(
        turn("user", "Hi"),
        CALLS,
        turn("system", "S"),
        turn("user", ToolResult("d", (Text("2"),)), ToolResult("c 1", (Text("1"),))),
        turn("user", "go on"),
    )
    first, second = (block["toolUse"] for block in messages[1]["content"])
    assert (first["input"], second["input"]) == ({"a": 1}, {})
    assert first["toolUseId"].startswith("call_")
    content = messages[2]["content"]
    assert [b["toolResult"]["toolUseId"] for b in content[:2]] == [first["toolUseId"], "d"]
    assert [b["toolResult"]["content"] for b in content[:2]] == [[{"text": "1"}], [{"text": "2"}]]
    assert content[2:] == [{"text": "<system>S</system>"}, {"text": "go on"}]
    assert list(writer.calls) == ["f", "g"]
    assert writer.bare_calls


@pytest.mark.parametrize("rest", [(), (turn("user", "never mind"),)])
def test_a_call_that_was_never_answered_gets_a_result(rest: tuple[Turn, ...]) -> None:
    messages, _, _ = written(turn("user", "Hi"), CALLS, *rest)
    results = [b["toolResult"] for b in messages[2]["content"] if "toolResult" in b]
    assert [result["content"] for result in results] == [[{"text": NO_RESULT}]] * 2
    assert {result["status"] for result in results} == {"error"}
    assert len(messages[2]["content"]) == 2 + len(rest)


def test_a_result_without_its_call_is_told_as_text() -> None:
    content = users(ToolResult("gone", (Text("r"),)), "Hi")
    assert content == [{"text": "Result of the earlier tool call gone:"}, {"text": "r"}, HI]


def test_a_picture_in_a_failed_result_stands_after_it() -> None:
    picture = Image(data=PNG, media_type="image/png")
    result = ToolResult("d", (Text("bad"), picture), is_error=True)
    messages, _, _ = written(
        turn("user", "Hi"), turn("assistant", ToolCall("d", "g", "{}")), turn("user", result)
    )
    told, aside = messages[2]["content"]
    assert told["toolResult"]["status"] == "error"
    assert told["toolResult"]["content"] == [{"text": "bad"}]
    assert aside["image"]["format"] == "png"
    messages, _, _ = written(
        turn("user", "Hi"),
        turn("assistant", ToolCall("d", "g", "{}")),
        turn("user", ToolResult("d", (picture,))),
    )
    assert "image" in messages[2]["content"][0]["toolResult"]["content"][0]


def test_thinking_goes_back_to_its_own_vendor_only() -> None:
    claudes = Thinking("hm", "SIG", "anthropic/messages")
    novas = Thinking("hm", "SIG", "bedrock/converse")
    hidden = Thinking("", "QUJD", "claude/converse", redacted=True)
    parts = (claudes, novas, hidden, Thinking("unsigned"), Text("a"))
    turns = (turn("user", "Hi"), turn("assistant", *parts), turn("user", "b"))
    messages, _, _ = written(*turns, profile=CLAUDE)
    assert messages[1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "SIG"}}},
        {"reasoningContent": {"redactedContent": "QUJD"}},
        {"text": "a"},
    ]
    messages, _, _ = written(*turns)
    assert len(messages[1]["content"]) == 2


def test_a_document_has_a_neutral_name_of_its_own_and_a_text_beside_it() -> None:
    content = users(
        File(data=PDF, media_type="application/octet-stream", filename="ignore all; rm.pdf"),
        File(data="YQ==", media_type="text/csv"),
    )
    first, second, text = content
    assert (first["document"]["format"], second["document"]["format"]) == ("pdf", "csv")
    assert first["document"]["name"] != second["document"]["name"]
    assert first["document"]["name"] == "document 1"
    assert first["document"]["source"] == {"bytes": PDF}
    assert text == {"text": "."}
    assert len(users(File(data=PDF), "read")) == 2


def test_media_have_their_own_blocks_and_bytes_decide_the_type() -> None:
    content = users(
        Image(data=PNG, media_type="image/jpeg"),
        Image(data="AA==", media_type="image/webp"),
        Audio("AA==", "mp3"),
        Video("data:video/quicktime;base64,AA=="),
    )
    assert [next(iter(block.values()))["format"] for block in content] == [
        "png",
        "webp",
        "mp3",
        "mov",
    ]


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (Image(url="https://x/y"), "images"),
        (Image(data="AA==", media_type="image/tiff"), "images"),
        (File(url="https://x/y"), "files"),
        (File(data="AA==", media_type="application/zip"), "files"),
        (Video("https://x/v"), "videos"),
        (Video("data:video/ogg;base64,AA=="), "videos"),
    ],
)
def test_what_has_no_place_is_refused_by_its_name(part: Part, told: str) -> None:
    with pytest.raises(Refused) as refused:
        users(part)
    assert refused.value.problem.code == "unsupported_content"
    assert told in refused.value.problem.message


def test_breakpoints_go_to_claude_alone() -> None:
    parts = (Text("a", "5m"), Image(data=PNG, cache="1h"))
    content = users(*parts, profile=CLAUDE)
    assert content[1::2] == [
        {"cachePoint": {"type": "default"}},
        {"cachePoint": {"type": "default", "ttl": "1h"}},
    ]
    assert len(users(*parts)) == 2
    messages, _, _ = written(
        turn("user", "Hi"),
        CALLS,
        turn("user", ToolResult("c 1", (Text("1"),), cache="5m"), ToolResult("d", (Text("2"),))),
        profile=CLAUDE,
    )
    kinds = [next(iter(block)) for block in messages[2]["content"]]
    assert kinds == ["toolResult", "cachePoint", "toolResult"]


def test_a_turn_to_go_on_with_loses_its_last_blanks_or_is_refused() -> None:
    turns = (turn("user", "Hi"), turn("assistant", "It is "))
    messages, writer, _ = written(*turns)
    assert writer.prefill
    assert messages[-1]["content"] == [{"text": "It is"}]
    with pytest.raises(Refused):
        written(*turns, profile=PLAIN.but(prefill=False))


def test_a_refusal_is_text_and_what_is_left_out_is_named() -> None:
    named = Turn("user", (Text("Hi"), Image(data=PNG, detail="low")), name="bob")
    messages, _, dropped = written(named, turn("assistant", RefusalText("no")), turn("user", "why"))
    assert messages[1]["content"] == [{"text": "no"}]
    assert dropped == ["messages[].name", "messages[].content[].image_url.detail"]


def test_names_that_are_no_names_here_are_replaced_the_same_everywhere() -> None:
    messages, writer, _ = written(turn("user", "Hi"), turn("assistant", ToolCall("c", "a.b", "[]")))
    use = messages[1]["content"][0]["toolUse"]
    assert use["name"].startswith("a_b_")
    assert use["input"] == {}
    assert list(writer.calls) == ["a.b"]


def test_models_that_know_no_failed_results_are_told_in_words() -> None:
    writer = Writer(PLAIN, [], marks_errors=False)
    results = (ToolResult("c 1", (Text("bad"),), is_error=True),)
    messages = writer.messages((turn("user", "Hi"), CALLS, turn("user", *results)))
    told = [block["toolResult"] for block in messages[2]["content"]]
    assert [result["content"] for result in told] == [
        [{"text": "Error:"}, {"text": "bad"}],
        [{"text": "Error:"}, {"text": NO_RESULT}],
    ]
    assert not any("status" in result for result in told)

"""The turns of a conversation, and their order."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.gemini.gemini import ORIGIN, PLACEHOLDER, STUDIO
from zurelay.chat.parts import Image, Part, RefusalText, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.profile import Profile
from zurelay.chat.request import Turn
from zurelay.formats.gemini.contents import conversation
from zurelay.wire.json import encode

CALL_A, CALL_B = ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", "{}")
RESULT_A, RESULT_B = ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),))
PICTURE = Image(data="AAAA", media_type="image/png")


def user(*parts: Part) -> Turn:
    return Turn("user", parts)


def model(*parts: Part) -> Turn:
    return Turn("assistant", parts)


def written(*turns: Turn, profile: Profile = STUDIO) -> list[Any]:
    return json.loads(encode(conversation(turns, profile, ()).contents))  # type: ignore[no-any-return]


def spoken(*parts: Part, profile: Profile = STUDIO) -> list[Any]:
    """Parts of the model's turn after one of the user's."""
    return written(user(Text("Hi")), model(*parts), profile=profile)[1]["parts"]  # type: ignore[no-any-return]


def proof(text: str = "SIG", *, call_id: str | None = None, origin: str = ORIGIN) -> Thinking:
    return Thinking("", text, origin, redacted=True, call_id=call_id)


def signatures(parts: list[Any]) -> list[str | None]:
    return [part.get("thoughtSignature") for part in parts]


def test_results_come_first_and_in_the_order_of_their_calls() -> None:
    heard = written(
        user(Text("Go")), model(CALL_A, CALL_B), user(RESULT_B, Text("and")), user(RESULT_A)
    )[2]["parts"]
    assert [part.get("functionResponse", {}).get("name") for part in heard] == ["f", "g", None]
    assert heard[0]["functionResponse"] == {"id": "a", "name": "f", "response": {"output": "1"}}


def test_where_ids_are_refused_order_alone_says_what_belongs_together() -> None:
    turns = (user(Text("Go")), model(CALL_A, CALL_B), user(RESULT_B, RESULT_A))
    said, heard = written(*turns, profile=STUDIO.but(call_ids=False))[1:]
    assert [part["functionCall"] for part in said["parts"]] == [
        {"name": "f", "args": {"x": 1}},
        {"name": "g", "args": {}},
    ]
    assert [part["functionResponse"] for part in heard["parts"]] == [
        {"name": "f", "response": {"output": "1"}},
        {"name": "g", "response": {"output": "2"}},
    ]


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_becomes_words() -> None:
    heard = written(user(Text("Go")), model(CALL_A), user(RESULT_B))[2]["parts"]
    assert heard[0]["functionResponse"]["response"] == {"error": "No result provided"}
    assert heard[1] == {"text": "2"}
    assert written(user(Text("Go")), model(CALL_A))[-1]["role"] == "user"


def test_a_second_result_of_one_call_becomes_words() -> None:
    again = ToolResult("a", (Text("3"),))
    heard = written(user(Text("Go")), model(CALL_A), user(RESULT_A, again))[2]["parts"]
    assert heard[0]["functionResponse"]["response"] == {"output": "1"}
    assert heard[1] == {"text": "3"}


def test_an_error_is_told_as_one() -> None:
    failed = ToolResult("a", (Text("no"), Text("way")), is_error=True)
    heard = written(user(Text("Go")), model(CALL_A), user(failed))[2]["parts"]
    assert heard[0]["functionResponse"]["response"] == {"error": "no\n\nway"}


@pytest.mark.parametrize("inside", [True, False])
def test_pictures_in_results_stand_inside_or_behind(inside: bool) -> None:
    result = ToolResult("a", (PICTURE,))
    profile = STUDIO.but(media_in_results=inside)
    heard = written(user(Text("Go")), model(CALL_A), user(result), profile=profile)[2]["parts"]
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    answer = heard[0]["functionResponse"]
    assert answer["response"] == {"output": "The result is attached."}
    assert (answer.get("parts"), heard[1:]) == (([picture], []) if inside else (None, [picture]))


def test_neighbours_of_one_role_are_one_content_and_the_first_is_the_users() -> None:
    found = written(model(Text("a")), model(Text("b")), user(Text("c")), user(Text("d")))
    assert [(each["role"], [part["text"] for part in each["parts"]]) for each in found] == [
        ("user", ["."]),
        ("model", ["a", "b"]),
        ("user", ["c", "d"]),
    ]


def test_blank_turns_leave_no_blank_text() -> None:
    found = written(user(Text("")), model(Text("")), user(Text("x")))
    assert found == [{"role": "user", "parts": [{"text": "."}, {"text": "x"}]}]
    assert written() == [{"role": "user", "parts": [{"text": "."}]}]


def test_leading_instructions_are_apart_and_later_ones_keep_their_place() -> None:
    turns = [
        Turn("system", (Text("a"), Text("b"))),
        user(Text("c")),
        Turn("developer", (Text("d"),)),
    ]
    found = conversation(turns, STUDIO, ["e"])
    assert found.system == [{"text": "a"}, {"text": "b"}]
    assert found.contents == [
        {
            "role": "user",
            "parts": [
                {"text": "c"},
                {"text": "<system>d</system>"},
                {"text": "<system>e</system>"},
            ],
        }
    ]
    assert not found.ends_with_model


def test_refusals_are_words() -> None:
    assert spoken(RefusalText("no")) == [{"text": "no"}]


@pytest.mark.parametrize("arguments", ["", "no json", "[1]", "\ud800"])
def test_arguments_that_are_no_object_become_an_empty_one(arguments: str) -> None:
    assert spoken(ToolCall("a", "f", arguments))[0]["functionCall"]["args"] == {}


def test_arguments_keep_the_callers_bytes() -> None:
    sent = encode(
        conversation([model(ToolCall("a", "f", '{ "z": 1.0, "a":2 }'))], STUDIO, ()).contents
    )
    assert b'"args":{ "z": 1.0, "a":2 }' in sent


# Proofs of thinking.


def test_a_proof_goes_back_with_the_call_it_names() -> None:
    parts = spoken(proof("B", call_id="b"), proof("A", call_id="a"), Text("x"), CALL_A, CALL_B)
    assert signatures(parts) == [None, "A", "B"]


def test_a_proof_without_a_name_goes_to_the_next_call() -> None:
    assert signatures(spoken(Text("x"), proof(), CALL_A, CALL_B)) == [None, "SIG", None]
    assert signatures(spoken(proof("1"), CALL_A, proof("2"), CALL_B)) == ["1", "2"]
    assert signatures(spoken(Text("x"), CALL_A, proof())) == ["SIG", None]


def test_beside_a_proof_by_name_one_without_belongs_to_the_text() -> None:
    parts = spoken(proof("A", call_id="a"), proof("T"), Text("x"), CALL_A, CALL_B)
    assert signatures(parts) == ["T", "A", None]


def test_without_calls_a_proof_goes_to_the_last_text_or_after_it_all() -> None:
    assert signatures(spoken(Text("x"), Text("y"), proof())) == [None, "SIG"]
    assert spoken(Text(""), proof()) == [{"text": "", "thoughtSignature": "SIG"}]
    assert spoken(RefusalText("no"), proof())[1] == {"text": "", "thoughtSignature": "SIG"}


@pytest.mark.parametrize("origin", ["google-vertex/gemini", "openai/responses", "", "gemini"])
def test_a_proof_of_another_realm_is_dropped_and_the_first_call_says_so(origin: str) -> None:
    parts = spoken(proof(origin=origin, call_id="a"), CALL_A, CALL_B)
    assert signatures(parts) == [PLACEHOLDER, None]
    assert signatures(spoken(proof(origin=origin), Text("x"))) == [None]


@pytest.mark.parametrize("none", [None, ""])
def test_where_none_is_asked_for_none_is_made_up(none: str | None) -> None:
    assert signatures(spoken(CALL_A, profile=STUDIO.but(reasoning_placeholder=none))) == [None]


def test_earlier_thinking_itself_stays_here() -> None:
    assert spoken(Thinking("secret"), Text("x")) == [{"text": "x"}]


_PARTS: "st.SearchStrategy[Part]" = st.sampled_from(
    [Text("t"), Text(""), CALL_A, CALL_B, proof(), proof(call_id="b")]
)
_HEARD: "st.SearchStrategy[Part]" = st.sampled_from([Text("u"), RESULT_A, RESULT_B, PICTURE])
_TURNS = st.lists(
    st.one_of(
        st.lists(_PARTS, max_size=4).map(lambda parts: model(*parts)),
        st.lists(_HEARD, max_size=4).map(lambda parts: user(*parts)),
        st.just(Turn("system", (Text("s"),))),
    ),
    max_size=8,
)


@given(_TURNS)
def test_the_rules_of_order_hold_for_every_conversation(turns: list[Turn]) -> None:
    found = written(*turns)
    assert [each["role"] for each in found] == (["user", "model"] * len(found))[: len(found)]
    for each in found:
        assert each["parts"]
    for said, heard in zip(found[1::2], [*found[2::2], None], strict=False):
        calls = [part["functionCall"] for part in said["parts"] if "functionCall" in part]
        if not calls:
            continue
        assert heard is not None
        answers = [part.get("functionResponse") for part in heard["parts"]]
        assert [(each["id"], each["name"]) for each in calls] == [
            (each["id"], each["name"]) for each in answers[: len(calls)]
        ]
        assert not any(answers[len(calls) :])


@given(_TURNS)
def test_a_longer_conversation_starts_with_the_shorter_one(turns: list[Turn]) -> None:
    whole = [*turns, user(Text("end"))]
    shorter = [json.dumps(each) for each in written(*whole)]
    longer = [json.dumps(each) for each in written(*whole, model(Text("more")), user(Text("?")))]
    assert longer[: len(shorter)] == shorter

"""JSON and calls that were asked for in words alone: told to who reads the answer, and seen to."""

import json
from typing import Any

import pytest

from tests.formats.openai_chat.streams import DONE, chunk, context, run
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target, WholeAnswer
from zurelay.formats.openai_chat import edit
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.formats.openai_chat.hub import ChatBack, ChatHubFront
from zurelay.formats.openai_chat.reply import Assembler, whole
from zurelay.formats.translate import TranslatingExchange

SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "n", "schema": {"type": "object", "properties": {}}},
}
OBJECT = {"type": "json_object"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FENCED = '```json\n{"a": 1}\n```'


def write(profile: Profile, **fields: Any) -> Outbound:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **fields}
    inbound = ChatFront().read(json.dumps(body).encode())
    return edit.write(inbound, Target("public", "upstream", profile))


@pytest.mark.parametrize(
    ("profile", "wanted", "told"),
    [
        (Profile(), SCHEMA, False),
        (Profile(), OBJECT, False),
        (Profile(json_schema="object"), OBJECT, False),
        (Profile(json_schema="object"), SCHEMA, True),
        (Profile(json_schema="none"), OBJECT, True),
        (Profile(json_schema="none"), SCHEMA, True),
        (Profile(json_schema="none"), {"type": "text"}, False),
        (Profile(), None, False),
    ],
)
def test_json_asked_for_in_words_is_told(profile: Profile, wanted: Any, told: bool) -> None:
    assert write(profile, response_format=wanted).json_text is told


@pytest.mark.parametrize(
    ("profile", "choice", "told"),
    [
        (Profile(), "required", False),
        (Profile(forced_tools="never"), "required", True),
        (
            Profile(forced_tools="never"),
            {"type": "function", "function": {"name": "f"}},
            True,
        ),
        (Profile(forced_tools="never"), "auto", False),
    ],
)
def test_a_call_asked_for_in_words_is_told(profile: Profile, choice: Any, told: bool) -> None:
    out = write(profile, tools=[TOOL], tool_choice=choice)
    assert out.must_call is told
    assert not out.json_text


def answer(message: Any, finish: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice]}).encode()


def read(message: Any, finish: str = "stop", **changes: Any) -> WholeAnswer:
    return whole(answer(message, finish), context(json_text=True, **changes))


def content(got: WholeAnswer) -> Any:
    assert got.fault is None
    return json.loads(got.body)["choices"][0]["message"]["content"]


@pytest.mark.parametrize("text", [FENCED, '```\n{"a": 1}\n```\n', '{"a": 1}', '  {"a": 1}\n'])
def test_json_comes_without_its_fence(text: str) -> None:
    assert json.loads(content(read({"content": text}))) == {"a": 1}


@pytest.mark.parametrize("text", ["Here it is: {}", '{"a": 1', "{'a': 1}", '```json\n{"a":\n```'])
def test_what_does_not_parse_is_a_failed_attempt(text: str) -> None:
    fault = read({"content": text}).fault
    assert fault is not None
    assert (fault.kind, fault.moves_on) == (FaultKind.BAD_ANSWER, True)


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": '{"a": 1'}, "length"),
        ({"content": "no"}, "content_filter"),
        ({"content": "Let me look.", "tool_calls": [CALL]}, "tool_calls"),
        ({"content": None, "refusal": "No."}, "stop"),
    ],
)
def test_an_answer_that_was_cut_or_calls_or_refuses_is_given(message: Any, finish: str) -> None:
    assert read(message, finish).fault is None


def test_the_stop_sequence_is_looked_for_inside_the_fence() -> None:
    got = read({"content": '```json\n{"a": 1}END\n```'}, stop=("END",))
    assert content(got) == '{"a": 1}'


def test_every_choice_is_looked_at() -> None:
    bodies = [{"index": n, "message": {"content": t}} for n, t in enumerate(["{}", "prose"])]
    body = json.dumps({"choices": [{**b, "finish_reason": "stop"} for b in bodies]}).encode()
    assert whole(body, context(json_text=True, choices=2)).fault is not None


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_stream_comes_without_the_fence_however_it_is_cut(size: int) -> None:
    pieces = [FENCED[at : at + size] for at in range(0, len(FENCED), size)]
    events = [chunk({"role": "assistant"}), *(chunk({"content": piece}) for piece in pieces)]
    ran = run(*events, chunk({}, "stop"), DONE, json_text=True)
    assert ran.fault is None
    assert json.loads(ran.joined("content")) == {"a": 1}
    assembler = Assembler(context(json_text=True))
    for event in [*events, chunk({}, "stop"), DONE]:
        assembler.feed(event)
    assembler.end()
    assert json.loads(content(assembler.whole())) == {"a": 1}


def test_an_assembled_answer_that_does_not_parse_is_a_fault() -> None:
    assembler = Assembler(context(json_text=True))
    for event in (chunk({"content": "prose"}), chunk({}, "stop"), DONE):
        assembler.feed(event)
    assembler.end()
    assert assembler.whole().fault is not None


def test_without_the_mark_nothing_is_touched() -> None:
    got = whole(answer({"content": FENCED}), context())
    assert content(got) == FENCED


def test_other_fronts_get_the_same_from_this_back() -> None:
    join = TranslatingExchange(ChatHubFront(), ChatBack())
    got = join.whole(answer({"content": FENCED}), context(json_text=True))
    assert json.loads(content(got)) == {"a": 1}
    assert join.whole(answer({"content": "prose"}), context(json_text=True)).fault is not None


def test_whether_a_tool_was_called_is_told() -> None:
    assert not whole(answer({"content": "Hi"}), context()).called
    assert whole(answer({"content": None, "tool_calls": [CALL]}), context()).called

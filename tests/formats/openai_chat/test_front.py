"""Reading callers' requests: exact paths, plain words, and no input that breaks it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Ability, Inbound
from zurelay.formats.openai_chat.front import ChatFront

FRONT = ChatFront()
USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def body(**changes: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [USER], **changes}).encode()


def read(**changes: Any) -> Inbound:
    return FRONT.read(body(**changes))


def refused(raw: bytes) -> Problem:
    with pytest.raises(Refused) as caught:
        FRONT.read(raw)
    assert caught.value.problem.status == 400
    return caught.value.problem


def user(*parts: Any) -> list[Any]:
    return [USER, {"role": "user", "content": list(parts)}]


@pytest.mark.parametrize(
    ("changes", "param", "code"),
    [
        ({"model": None}, "model", "missing_required_parameter"),
        ({"model": ""}, "model", "invalid_value"),
        ({"model": 1}, "model", "invalid_value"),
        ({"messages": None}, "messages", "missing_required_parameter"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": {}}, "messages", "invalid_value"),
        ({"messages": [None]}, "messages[0]", "invalid_value"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "missing_required_parameter"),
        ({"messages": [USER, {"role": "function", "content": "x"}]}, "messages[1].role", "invalid_value"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "missing_required_parameter"),
        ({"messages": [{"role": "user", "content": 1}]}, "messages[0].content", "invalid_value"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content", "invalid_value"),
        ({"messages": [USER, {"role": "assistant"}]}, "messages[1].content", "missing_required_parameter"),
        ({"messages": [USER, USER, {"role": "user", "content": [{"type": "image", "url": ""}]}]},
         "messages[2].content[0].type", "invalid_value"),
        ({"messages": user({"text": "x"})}, "messages[1].content[0].type", "missing_required_parameter"),
        ({"messages": user({"type": "text"})}, "messages[1].content[0].text", "missing_required_parameter"),
        ({"messages": user({"type": "text", "text": 1})}, "messages[1].content[0].text", "invalid_value"),
        ({"messages": user({"type": "image_url"})}, "messages[1].content[0].image_url", "missing_required_parameter"),
        ({"messages": user({"type": "image_url", "image_url": "http://x"})}, "messages[1].content[0].image_url", "invalid_value"),
        ({"messages": user({"type": "image_url", "image_url": {"url": "file:///etc"}})},
         "messages[1].content[0].image_url.url", "invalid_value"),
        ({"messages": user({"type": "file", "file": {}})}, "messages[1].content[0].file.file_data", "missing_required_parameter"),
        ({"messages": user({"type": "file", "file": {"file_id": "f"}})},
         "messages[1].content[0].file.file_id", "unsupported_content"),
        ({"messages": user({"type": "input_audio", "input_audio": {"data": "x"}})},
         "messages[1].content[0].input_audio.format", "missing_required_parameter"),
        ({"messages": [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}]},
         "messages[0].content[0].type", "invalid_value"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id", "missing_required_parameter"),
        ({"messages": [{"role": "assistant", "tool_calls": [{**CALL, "id": ""}]}]}, "messages[0].tool_calls[0].id", "invalid_value"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]}]},
         "messages[0].tool_calls[0].function", "missing_required_parameter"),
        ({"messages": [{"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}]},
         "messages[0].tool_calls[0].function.arguments", "invalid_value"),
        ({"messages": [{"role": "assistant", "audio": {"id": "a"}}]}, "messages[0].audio", "unsupported_content"),
        ({"stream": "true"}, "stream", "invalid_value"),
        ({"stream_options": []}, "stream_options", "invalid_value"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage", "invalid_value"),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens", "invalid_value"),
        ({"max_completion_tokens": True}, "max_completion_tokens", "invalid_value"),
        ({"n": 0}, "n", "invalid_value"),
        ({"n": "1"}, "n", "invalid_value"),
        ({"temperature": 2.1}, "temperature", "invalid_value"),
        ({"temperature": "1"}, "temperature", "invalid_value"),
        ({"top_p": -0.1}, "top_p", "invalid_value"),
        ({"stop": 5}, "stop", "invalid_value"),
        ({"stop": ["a", "b", 3]}, "stop[2]", "invalid_value"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop[4]", "invalid_value"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "invalid_value"),
        ({"tools": [TOOL, {"type": "function"}]}, "tools[1].function", "missing_required_parameter"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name", "missing_required_parameter"),
        ({"tools": [{"type": "function", "function": {"name": ""}}]}, "tools[0].function.name", "invalid_value"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]},
         "tools[0].function.parameters", "invalid_value"),
        ({"tool_choice": "any", "tools": [TOOL]}, "tool_choice", "invalid_value"),
        ({"tool_choice": "required"}, "tool_choice", "invalid_value"),
        ({"tool_choice": {"type": "function", "function": {"name": "g"}}, "tools": [TOOL]},
         "tool_choice.function.name", "invalid_value"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls", "invalid_value"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_value"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "missing_required_parameter"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
         "response_format.json_schema.name", "missing_required_parameter"),
        ({"reasoning_effort": 3}, "reasoning_effort", "invalid_value"),
        ({"seed": 1.5}, "seed", "invalid_value"),
        ({"models": "m"}, "models", "invalid_value"),
        ({"models": ["a", 1]}, "models[1]", "invalid_value"),
        ({"models": ["a"] * 9}, "models[8]", "invalid_value"),
        ({"user": "x" * 257}, "user", "invalid_value"),
        ({"metadata": {"a": 1}}, "metadata", "invalid_value"),
        ({"metadata": {"k" * 65: ""}}, "metadata", "invalid_value"),
        ({"metadata": {"k": "v" * 513}}, "metadata", "invalid_value"),
        ({"metadata": {str(i): "" for i in range(17)}}, "metadata", "invalid_value"),
    ],
)  # fmt: skip
def test_faulty_fields_are_named_by_their_path(changes: Any, param: str, code: str) -> None:
    problem = refused(body(**changes))
    assert (problem.param, problem.code) == (param, code)
    assert param.split("[", maxsplit=1)[0].split(".", maxsplit=1)[0] in problem.message
    assert "`" not in problem.message
    assert "$" not in problem.message


def test_messages_say_what_would_be_right() -> None:
    assert (
        "'system', 'developer', 'user', 'assistant' or 'tool'"
        in refused(body(messages=[{"role": "bot", "content": "x"}])).message
    )
    assert "'xhigh' or 'max'" in refused(body(reasoning_effort=3)).message
    assert "'image_url'" in refused(body(messages=user({"type": "image"}))).message
    assert "from 0 to 2" in refused(body(temperature=3)).message


def test_an_unknown_effort_word_is_left_to_who_knows_the_models_levels() -> None:
    assert ChatFront().read(body(reasoning_effort="hard")).effort == "hard"


@pytest.mark.parametrize(
    "raw",
    [b"", b"null", b"[]", b'"x"', b"{", b'{"model": m}', b'{"model":"m\xff"}', b'{"a":"\xff","model":"m"}',
     b'{"model":"\\ud800"}', b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"a":' * 50_000],
)  # fmt: skip
def test_what_is_no_json_object_is_invalid_json(raw: bytes) -> None:
    assert refused(raw).code == "invalid_json"


@pytest.mark.parametrize("where", ["x", "tools", "messages"])
def test_nesting_beyond_a_hundred_is_refused(where: str) -> None:
    deep = b"[" * 101 + b"]" * 101
    raw = body().replace(b'"model"', b'"%s": %s, "model"' % (where.encode(), deep), 1)
    assert refused(raw).code == "invalid_json"
    assert FRONT.read(body(x=json.loads(b"[" * 99 + b"]" * 99))).model == "m"


def test_null_counts_as_left_out_in_every_field() -> None:
    names = [
        "stream",
        "stream_options",
        "max_completion_tokens",
        "max_tokens",
        "temperature",
        "top_p",
        "stop",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "reasoning_effort",
        "seed",
        "models",
        "n",
        "user",
        "metadata",
        "safety_identifier",
        "prompt_cache_key",
    ]
    seen = read(**dict.fromkeys(names))
    assert (seen.stream, seen.alternatives, seen.stop, seen.needs) == (False, None, (), {})


def test_fields_are_read() -> None:
    seen = read(
        stream=True,
        stream_options={"include_usage": True},
        max_tokens=5,
        max_completion_tokens=7,
        stop="x",
        models=["b", "a", "b"],
        n=2,
        reasoning_effort="low",
        user="u",
        metadata={"a": "b"},
        safety_identifier="s",
        prompt_cache_key="k",
    )
    assert (seen.stream, seen.include_usage, seen.max_output, seen.stop) == (True, True, 7, ("x",))
    assert (seen.alternatives, seen.choices, seen.effort) == (("b", "a"), 2, "low")
    assert (seen.user, seen.metadata, seen.safety_identifier, seen.cache_key) == (
        "u",
        {"a": "b"},
        "s",
        "k",
    )
    assert read(models=[]).alternatives == ()


def test_needs_name_the_first_part_that_has_them() -> None:
    parts = [
        {"type": "text", "text": "x"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,xx"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,xx"}},
        {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
        {"type": "video_url", "video_url": {"url": "https://x/y"}},
    ]
    seen = read(
        messages=user(*parts, *parts),
        tools=[TOOL],
        tool_choice="required",
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    )
    assert seen.needs == {
        Ability.IMAGE: "messages[1].content[1]",
        Ability.PDF: "messages[1].content[2]",
        Ability.AUDIO: "messages[1].content[3]",
        Ability.VIDEO: "messages[1].content[4]",
        Ability.TOOLS: "tools",
        Ability.FORCED_TOOL: "tool_choice",
        Ability.JSON_SCHEMA: "response_format",
    }
    assert seen.media_count == 8


def test_the_opening_is_system_and_first_user_message() -> None:
    system = {"role": "system", "content": "S"}
    first = read(messages=[system, USER, {"role": "assistant", "content": "a"}, USER])
    assert first.opening == read(messages=[system, USER]).opening != read().opening
    assert (
        first.text_length == measure(["S", USER["content"], "a", USER["content"]]) + 4 * PER_MESSAGE
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        {
            "role": "assistant",
            "refusal": "no",
            "content": None,
            "audio": None,
            "function_call": None,
        },
        {"role": "assistant", "reasoning_content": "x"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}]},
        {
            "role": "developer",
            "name": "n",
            "content": [{"type": "text", "text": "x", "unknown": 1}],
        },
    ],
)
def test_right_messages_are_taken(message: Any) -> None:
    assert read(messages=[USER, message]).model == "m"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "text", "role", "content", "id", "function", "name", "arguments",
                         "image_url", "url", "file", "include_usage", "json_schema", "schema"]),
        inner,
        max_size=4,
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    for text in (raw, b'{"model":"m","messages":[' + raw + b"]}"):
        try:
            FRONT.read(text)
        except Refused as refusal:
            assert refusal.problem.status == 400


@given(
    st.dictionaries(
        st.sampled_from(["messages", "tools", "tool_choice", "response_format", "stop", "models",
                         "metadata", "stream_options", "n", "max_tokens", "temperature", "seed"]),
        JSON,
    )
)  # fmt: skip
def test_any_json_is_read_or_refused_with_a_path(fields: Any) -> None:
    try:
        read(**fields)
    except Refused as refusal:
        assert refusal.problem.param
        assert refusal.problem.param.split("[")[0].split(".")[0] in {"model", *fields}


def test_problems_are_written_in_openais_shape() -> None:
    problem = Problem(402, "insufficient_quota", "insufficient_credit", "No money.", "p")
    status, text = FRONT.problem_body(problem, "req_1")
    assert status == 402
    assert json.loads(text) == {
        "error": {
            "message": "No money.",
            "type": "insufficient_quota",
            "param": "p",
            "code": "insufficient_credit",
        }
    }
    assert FRONT.problem_event(problem, "req_1") == b"data: " + text + b"\n\n"

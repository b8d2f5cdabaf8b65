"""Whatever a caller sends is refused with a field named, or can be sent to every kind of upstream.

Bodies that use what each format has are broken in one place or several; nothing but a refusal may
come of it.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.anthropic.made import target as claude
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.bedrock_invoke.request import laid_over
from zurelay.formats.registry import exchange, front

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
MARK = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FIND = {"name": "find", "description": "Finds.", "input_schema": SCHEMA}

CHAT: dict[str, Any] = {
    "model": "m",
    "max_completion_tokens": 900,
    "temperature": 0.5,
    "stop": ["x"],
    "user": "ann",
    "metadata": {"run": "7"},
    "reasoning_effort": "high",
    "stream_options": {"include_usage": True},
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "s", "schema": SCHEMA, "strict": True},
    },
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": SCHEMA},
            "cache_control": MARK,
        },
        {"type": "custom", "custom": {"name": "raw"}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "messages": [
        {"role": "system", "content": "s", "cache_control": MARK},
        {"role": "developer", "content": [{"type": "text", "text": "d", "cache_control": LONG}]},
        {
            "role": "user",
            "name": "ann",
            "cache_control": LONG,
            "content": [
                {"type": "text", "text": "u"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
                },
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
        {"role": "assistant", "content": "a", "refusal": "no"},
        {"role": "user", "content": "go on"},
    ],
}
MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9000,
    "system": [{"type": "text", "text": "s", "cache_control": MARK}],
    "stop_sequences": ["x"],
    "metadata": {"user_id": json.dumps({"device_id": "d", "session_id": "s"})},
    "thinking": {"type": "adaptive", "display": "updates"},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "tools": [{**FIND, "name": "Read", "cache_control": MARK, "defer_loading": True}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi", "cache_control": LONG},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                },
                {
                    "type": "document",
                    "title": "t",
                    "source": {"type": "text", "media_type": "text/plain", "data": "x"},
                },
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                },
            ],
        },
        {
            "role": "system",
            "output_config": {"effort": "medium"},
            "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "Read"}},
                {
                    "type": "tool_addition",
                    "tool": {"type": "tool_definition", "definition": FIND},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "a", "signature": "b"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "t", "name": "find", "input": {"a": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "is_error": False,
                    "content": [{"type": "text", "text": "ok", "cache_control": LONG}],
                }
            ],
        },
    ],
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "instructions": "be",
    "max_output_tokens": 900,
    "reasoning": {"effort": "high", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "store": False,
    "text": {"format": {"type": "json_schema", "name": "s", "schema": SCHEMA}, "verbosity": "low"},
    "tools": [
        {
            "type": "namespace",
            "name": "clock",
            "description": "d",
            "tools": [
                {"type": "function", "name": "sleep", "parameters": SCHEMA, "strict": False},
                {"type": "custom", "name": "raw", "format": {"type": "text"}},
            ],
        },
        {"type": "function", "name": "f", "parameters": {}},
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "f"}, {"type": "namespace", "name": "clock"}],
    },
    "input": [
        {
            "type": "additional_tools",
            "tools": [
                {"type": "function", "name": "g", "parameters": {}},
                {"type": "namespace", "name": "more", "tools": [{"type": "custom", "name": "h"}]},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "hi"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
                {
                    "type": "input_file",
                    "filename": "a.pdf",
                    "file_data": "data:application/pdf;base64,AAAA",
                },
            ],
        },
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "s"}],
            "encrypted_content": "x",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {
            "type": "function_call",
            "call_id": "c",
            "name": "sleep",
            "namespace": "clock",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {
            "type": "custom_tool_call",
            "call_id": "d",
            "name": "raw",
            "namespace": "clock",
            "input": "x",
        },
        {
            "type": "custom_tool_call_output",
            "call_id": "d",
            "output": [{"type": "input_text", "text": "ok"}],
        },
    ],
}
BODIES = {"openai_chat": CHAT, "anthropic": MESSAGES, "openai_responses": RESPONSES}

CLAUDE = claude(effort="low")  # another than a turn may ask for
OTHER = Target("m", "up", Profile())
BACKS = {
    "openai_chat": OTHER,
    "openai_responses": OTHER,
    "anthropic": CLAUDE,
    "gemini": OTHER,
    "converse": OTHER,
    "bedrock_invoke": Target("m", "m", laid_over(CLAUDE.profile)),
}

JUNK: list[Any] = [
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "none", "user", "assistant", "text"),
    *([], {}, ["x"], [None], [{}], {"a": 1}, {"type": "x"}, {"name": ["x"]}, [[["deep"]]]),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a body."""
    inner = value.items() if isinstance(value, dict) else ()
    for name, each in enumerate(value) if isinstance(value, list) else inner:
        yield (*path, name)
        yield from places(each, (*path, name))


def at(body: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        body = body[name]
    return body


@st.composite
def broken(draw: st.DrawFn, body: Any) -> Any:
    """The body with something left out, replaced, or standing in another's place."""
    found = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(found)) or [("model",)]))
        holder, name = at(found, path[:-1]), path[-1]
        how = draw(st.sampled_from(("left out", "junk", "junk", "another")))
        if how == "left out":
            holder.pop(name, None) if isinstance(holder, dict) else holder.pop(name)
        elif how == "junk":
            holder[name] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        else:
            holder[name] = copy.deepcopy(at(body, draw(st.sampled_from(list(places(body))))))
    return found


@pytest.mark.parametrize("name", BODIES)
def test_what_is_whole_can_be_sent_to_every_upstream(name: str) -> None:
    inbound = front(name).read(json.dumps(BODIES[name]).encode())
    for back, target in BACKS.items():
        json.loads(exchange(name, back).write(inbound, target).body)


@pytest.mark.parametrize("name", BODIES)
@given(data=st.data())
@settings(max_examples=400)
def test_what_is_broken_is_refused_with_its_field_or_sent(name: str, data: st.DataObject) -> None:
    body = json.dumps(data.draw(broken(BODIES[name]))).encode()
    try:
        inbound = front(name).read(body)
    except Refused as refused:
        assert refused.problem.status == 400
        assert refused.problem.param or refused.problem.code == "invalid_json"
        return
    for back, target in BACKS.items():
        try:
            json.loads(exchange(name, back).write(inbound, target).body)
        except Refused as refused:
            assert refused.problem.status == 400

"""Messages requests in neutral form."""

import json
from typing import Any

import pytest

from zurelay.chat.parts import File, Image, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.anthropic.front import MessagesFront
from zurelay.formats.anthropic.read import read

HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]


def request(messages: list[dict[str, Any]] | None = None, **fields: Any) -> Request:
    body = {"model": "m", "max_tokens": 10, "messages": messages or HI, **fields}
    return read(MessagesFront().read(json.dumps(body).encode()))


def parts(*blocks: dict[str, Any], role: str = "user") -> tuple[Any, ...]:
    return request([{"role": role, "content": list(blocks)}]).turns[0].parts


def test_system_and_turns() -> None:
    cached = {"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    header = {"type": "text", "text": "x-anthropic-billing-header: cch=1"}
    late = [*HI, {"role": "system", "content": "late"}]
    found = request(late, system=[header, cached]).turns
    assert found == (
        Turn("system", (Text("S", "1h"),)),
        Turn("user", (Text("Hi"),)),
        Turn("system", (Text("late"),)),
    )
    assert request(system="S").turns[0] == Turn("system", (Text("S"),))
    assert request(system="").turns == (Turn("user", (Text("Hi"),)),)


def test_options() -> None:
    found = request(
        temperature=0.5,
        top_p=0.9,
        top_k=4,
        stop_sequences=["X"],
        service_tier="auto",
        metadata={"user_id": "u"},
        thinking={"type": "disabled"},
        speed="fast",
        tools=[{"name": "f", "description": "d", "input_schema": {}, "strict": True}],
        tool_choice={"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}},
    )
    assert (found.max_output, found.temperature, found.top_p) == (10, 0.5, 0.9)
    assert (found.stop, found.effort, found.service_tier) == (("X",), "none", "auto")
    assert found.tools == (Tool("f", "d", {}, strict=True),)
    assert found.tool_choice == ToolChoice("named", "f")
    assert found.parallel_tool_calls is False
    assert found.answer_format == AnswerFormat("json_schema", "answer", {"type": "object"})
    assert found.extra == {"top_k": 4, "speed": "fast"}


@pytest.mark.parametrize(
    ("choice", "found"),
    [("auto", ToolChoice("auto")), ("any", ToolChoice("required")), ("none", ToolChoice("none"))],
)
def test_choices(choice: str, found: ToolChoice) -> None:
    tool = {"name": "f", "input_schema": {}}
    assert request(tools=[tool], tool_choice={"type": choice}).tool_choice == found


def test_media() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "AA"}
    assert parts({"type": "image", "source": image}) == (Image(data="AA", media_type="image/png"),)
    url = {"type": "url", "url": "https://x.test/a"}
    assert parts({"type": "image", "source": url}) == (Image(url="https://x.test/a"),)
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "BB"}
    assert parts({"type": "document", "source": pdf, "title": "T"}) == (
        File(data="BB", media_type="application/pdf", filename="T"),
    )
    assert parts({"type": "document", "source": url}) == (
        File(url="https://x.test/a", media_type="application/pdf"),
    )


def test_texts_of_other_shapes() -> None:
    plain = {"type": "text", "media_type": "text/plain", "data": "words"}
    assert parts({"type": "document", "source": plain, "title": "T"}) == (Text("T\n\nwords"),)
    content = {"type": "content", "content": [{"type": "text", "text": "in"}]}
    assert parts({"type": "document", "source": content}) == (Text("in"),)
    found = {
        "type": "search_result",
        "source": "https://x.test",
        "title": "T",
        "content": [{"type": "text", "text": "hit"}],
    }
    assert parts(found) == (Text("T\nhttps://x.test\nhit"),)
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
    (told,) = parts(server, role="assistant")
    assert "web_search" in told.text
    hit = {"type": "web_search_result", "title": "T", "encrypted_content": "SECRET"}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [hit]}
    (told,) = parts(found, role="assistant")
    assert "T" in told.text
    assert "SECRET" not in told.text


def test_an_assistants_turn_and_its_results() -> None:
    found = request(
        [
            *HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "T", "signature": "SIG"},
                    {"type": "redacted_thinking", "data": "D"},
                    {"type": "text", "text": "a"},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": "r", "is_error": True}
                ],
            },
        ]
    ).turns
    assert found[1].parts == (
        Thinking("T", "SIG", "anthropic/messages"),
        Thinking("", "D", "anthropic/messages", redacted=True),
        Text("a"),
        ToolCall("t", "f", '{"a":1}'),
    )
    assert found[2].parts == (ToolResult("t", (Text("r"),), is_error=True),)


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}],
                }
            ]
        },
    ],
)
def test_what_only_anthropic_has_is_refused_with_its_path(fields: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        request(**fields)
    assert refused.value.problem.code == "unsupported_content"
    assert refused.value.problem.param

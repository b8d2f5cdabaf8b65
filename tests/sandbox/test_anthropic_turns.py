from typing import Any

import pytest

from zurelay.chat.parts import File, Image, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import Turn
from zurelay.sandbox.anthropic_turns import read_turns, text_blocks
from zurelay.sandbox.proofs import proof


def content(*blocks: dict[str, Any], role: str = "user") -> tuple[Any, ...]:
    (turn,) = read_turns([{"role": role, "content": list(blocks)}])
    return turn.parts


def test_the_system_prompt_is_a_turn() -> None:
    assert text_blocks(None) == ()
    assert text_blocks("Be brief.") == (Turn("system", (Text("Be brief."),)),)
    blocks = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    assert text_blocks(blocks) == (Turn("system", (Text("a"),)),)


def test_media_are_read_from_every_source() -> None:
    url = {"type": "url", "url": "https://example.com/x"}
    data = {"type": "base64", "media_type": "image/png", "data": "eA=="}
    assert content({"type": "image", "source": url}) == (Image(url="https://example.com/x"),)
    assert content({"type": "image", "source": data}) == (Image(data="eA=="),)
    assert content({"type": "document", "source": data}) == (File(data="eA=="),)


def test_a_call_and_its_result_belong_together() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/x"}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [picture], "is_error": True}
    spoken, heard = read_turns(
        [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    )
    assert spoken.parts == (ToolCall("a", "f", '{"x":1}'),)
    image = Image(url="https://example.com/x")
    assert heard.parts == (ToolResult("a", (image,), is_error=True),)


def test_signed_thinking_is_read_and_what_server_tools_did_is_left_alone() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": proof("Hm.")}
    searched = {"type": "web_search_tool_result", "tool_use_id": "x", "content": []}
    assert content(thought, searched, role="assistant") == (Thinking("Hm.", proof("Hm.")),)


def test_what_is_said_of_tools_is_left_alone_too() -> None:
    """As Claude Code loads tools later."""
    loaded = {"type": "tool_reference", "tool_name": "f"}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [loaded]}
    call = {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    _, heard = read_turns(
        [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    )
    assert heard.parts == (ToolResult("a", ()),)
    added = {"type": "tool_addition", "tool": loaded}
    text = {"type": "text", "text": "One more."}
    assert content(added, text, role="system") == (Text("One more."),)


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"type": "text", "text": ""}, "messages.0.content.0"),
        ({"type": "thinking", "thinking": "Hm.", "signature": "x"}, "messages.0.content.0"),
        ({"type": "tool_use", "id": "a", "name": "f", "input": "{}"}, "messages.0.content.0"),
        ({"type": "tool_result", "tool_use_id": "a", "content": 5}, "messages.0.content.0.content"),
    ],
)
def test_what_cannot_stand_there_is_named(block: dict[str, Any], path: str) -> None:
    with pytest.raises(Refused) as caught:
        content(block)
    assert caught.value.problem.param == path

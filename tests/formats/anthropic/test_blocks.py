"""Content blocks, one part at a time."""

import base64
from typing import Any

import pytest

from tests.formats.anthropic.made import target
from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic import blocks
from zurelay.wire import json

PROFILE = target().profile
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
PDF = base64.b64encode(b"%PDF-1.7 ...").decode()


def test_text_and_its_breakpoint() -> None:
    assert blocks.of_user(Text("a", "5m"), PROFILE) == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    ]
    long = blocks.of_user(Text("a", "1h"), PROFILE)[0]["cache_control"]
    assert long == {"type": "ephemeral", "ttl": "1h"}
    short = blocks.of_user(Text("a", "1h"), PROFILE.but(long_cache=False))[0]["cache_control"]
    assert short == {"type": "ephemeral"}
    assert blocks.of_user(Text(" \n"), PROFILE) == []


def test_a_pictures_type_is_what_its_bytes_say() -> None:
    (block,) = blocks.of_user(Image(data=PNG, media_type="image/jpeg"), PROFILE)
    assert block["source"] == {"type": "base64", "media_type": "image/png", "data": PNG}
    (block,) = blocks.of_user(Image(data="AAAA", media_type="image/webp"), PROFILE)
    assert block["source"]["media_type"] == "image/webp"
    (block,) = blocks.of_user(Image(url="https://x.test/a.png", detail="high"), PROFILE)
    assert block == {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}


def test_documents() -> None:
    (block,) = blocks.of_user(File(data=PDF, media_type="x/y", filename="a.pdf"), PROFILE)
    assert block == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        "title": "a.pdf",
    }
    words = base64.b64encode("é".encode()).decode()
    (block,) = blocks.of_user(File(data=words, media_type="text/csv"), PROFILE)
    assert block["source"] == {"type": "text", "media_type": "text/plain", "data": "é"}
    (block,) = blocks.of_user(File(data=PNG, media_type="application/pdf"), PROFILE)
    assert block["type"] == "image"
    (block,) = blocks.of_user(File(url="https://x.test/a.pdf"), PROFILE)
    assert block["source"] == {"type": "url", "url": "https://x.test/a.pdf"}


@pytest.mark.parametrize("part", [Audio("AA", "wav"), Video("https://x"), File(file_id="f")])
def test_what_has_no_place_is_refused_and_never_lost(part: Any) -> None:
    with pytest.raises(Refused) as refused:
        blocks.of_user(part, PROFILE)
    assert refused.value.problem.code == "unsupported_content"


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ('{"b": 1.0,  "a": 2}', b'{"b": 1.0,  "a": 2}'),
        ("", b"{}"),
        ("[1]", b"{}"),
        ('{"cut": "of', b"{}"),
        ('{"a": "\ud800"}', b"{}"),
    ],
)
def test_arguments_keep_their_bytes_where_they_are_an_object(
    arguments: str, written: bytes
) -> None:
    (block,) = blocks.of_assistant(ToolCall("id", "f", arguments), PROFILE)
    assert json.encode(block["input"]) == written


def test_ids_are_made_legal_alike_in_call_and_result() -> None:
    (call,) = blocks.of_assistant(ToolCall("a:b c", "f", ""), PROFILE)
    result, _ = blocks.result(ToolResult("a:b c", ()), PROFILE)
    assert call["id"] == result["tool_use_id"]
    assert call["id"] != "a:b c"


def test_results() -> None:
    block, aside = blocks.result(ToolResult("c", (Text("r"),)), PROFILE)
    assert block == {"type": "tool_result", "tool_use_id": "c", "content": "r"}
    assert aside == []
    picture = Image(data=PNG)
    block, aside = blocks.result(ToolResult("c", (Text("r"), picture), cache="5m"), PROFILE)
    assert [inner["type"] for inner in block["content"]] == ["text", "image"]
    assert block["cache_control"] == {"type": "ephemeral"}
    block, aside = blocks.result(ToolResult("c", (picture,), is_error=True), PROFILE)
    assert "content" not in block
    assert block["is_error"] is True
    assert [inner["type"] for inner in aside] == ["image"]


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (Thinking("t", "S", "anthropic/messages"), True),
        (Thinking("t", "S", "openai/responses"), False),
        (Thinking("t", "S", None), False),
        (Thinking("t"), False),
    ],
)
def test_thinking_goes_back_only_to_where_it_came_from(part: Thinking, kept: bool) -> None:
    found = blocks.of_assistant(part, PROFILE)
    assert found == ([{"type": "thinking", "thinking": "t", "signature": "S"}] if kept else [])


def test_redacted_thinking_and_refusals() -> None:
    redacted = Thinking("", "D", "anthropic/messages", redacted=True)
    assert blocks.of_assistant(redacted, PROFILE) == [{"type": "redacted_thinking", "data": "D"}]
    assert blocks.of_assistant(RefusalText("no"), PROFILE) == [{"type": "text", "text": "no"}]

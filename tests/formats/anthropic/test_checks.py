"""What reading a request notes; what it refuses stands in the front's tests."""

import json
from typing import Any

import pytest

from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.formats.anthropic.checks import Seen, conversation, output, stored
from zurelay.formats.anthropic.view import REQUEST
from zurelay.formats.base import Ability


def seen(*blocks: dict[str, Any], **fields: Any) -> Seen:
    body = {"messages": [{"role": "user", "content": list(blocks)}], **fields}
    found = Seen()
    conversation(REQUEST.decode(json.dumps(body).encode()), found)
    return found


def test_lengths_count_everything_that_is_text() -> None:
    found = seen(
        {"type": "text", "text": "abc"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        {"type": "tool_result", "tool_use_id": "t", "content": "de"},
        {"type": "thinking", "thinking": "fgh", "signature": "S"},
        system="ij",
    )
    assert sorted(found.texts) == ["abc", "de", "fgh", "ij", '{"a": 1}']
    assert found.text_length == measure(found.texts) + PER_MESSAGE
    assert found.media_count == 0


def test_the_first_of_each_need_is_named() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "a/b", "data": "AA=="}}
    found = seen({"type": "text", "text": "a"}, picture, picture)
    assert found.needs == {Ability.IMAGE: "messages[0].content[1]"}
    assert found.media_count == 2


def test_the_effort_of_a_request_without_any() -> None:
    assert output(REQUEST.decode(b"{}"), Seen()) is None


def test_a_pdf_counts_by_its_size() -> None:
    def long(size: int) -> int:
        source = {"type": "base64", "media_type": "application/pdf", "data": "A" * size}
        return seen({"type": "document", "source": source}).text_length

    assert long(10) < long(400_000) - 35_000


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, "source.file_id"),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, "source.file_id"),
        ({"type": "container_upload", "file_id": "f"}, "file_id"),
        (
            {
                "type": "document",
                "source": {
                    "type": "content",
                    "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}],
                },
            },
            "source.content",
        ),
    ],
)
def test_what_is_stored_at_a_provider_is_noted_with_its_path(
    block: dict[str, Any], path: str
) -> None:
    assert seen(block).needs[Ability.STORED] == f"messages[0].content[0].{path}"


@pytest.mark.parametrize("name", [r"file\u005fid", r"\u0066ile_id", "file_id", r"\u0000\u0031"])
def test_however_its_name_is_written(name: str) -> None:
    digits = "9" * 5000 if name.endswith("31") else "1"  # more than can be read again
    inner = f'{{"type":"image","n":{digits},"source":{{"type":"file","{name}":"f"}}}}'
    source = f'{{"type":"content","content":[{inner}]}}'
    content = f'[{{"type":"document","source":{source}}}]'
    found = Seen()
    body = f'{{"messages":[{{"role":"user","content":{content}}}]}}'
    conversation(REQUEST.decode(body.encode()), found)
    assert Ability.STORED in found.needs


@pytest.mark.parametrize("name", ["container", "mcp_servers"])
def test_so_is_what_belongs_to_the_whole_request(name: str) -> None:
    found = Seen()
    stored(REQUEST.decode(json.dumps({name: [{"name": "x"}]}).encode()), found)
    assert found.needs == {Ability.STORED: name}
    nothing = Seen()
    for value in ("null", "[]"):
        stored(REQUEST.decode(f'{{"{name}":{value}}}'.encode()), nothing)
    assert nothing.needs == {}

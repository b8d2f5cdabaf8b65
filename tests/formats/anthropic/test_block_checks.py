"""What is noted of blocks; what is refused of them stands in the front's tests."""

import json
from typing import Any

import pytest

from zurelay.formats.anthropic.block_checks import check_block
from zurelay.formats.anthropic.view import BLOCKS
from zurelay.formats.base import Ability
from zurelay.formats.seen import Seen


def noted(content: str) -> Seen:
    blocks = BLOCKS.decode(content.encode())
    assert isinstance(blocks, list)
    found = Seen()
    for place, block in enumerate(blocks):
        check_block(f"messages[0].content[{place}]", "user", block, found)
    return found


def seen(*blocks: dict[str, Any]) -> Seen:
    return noted(json.dumps(blocks))


def test_words_inside_of_blocks_count() -> None:
    words = [{"type": "text", "text": "ab"}]
    found = seen(
        {"type": "tool_result", "tool_use_id": "t", "content": words},
        {"type": "tool_result", "tool_use_id": "u", "content": "cd"},
        {"type": "search_result", "source": "s", "title": "t", "content": words},
        {"type": "document", "source": {"type": "content", "content": words}},
        {"type": "document", "source": {"type": "content", "content": "ef"}},
    )
    assert sorted(found.texts) == ["ab", "ab", "ab", "cd", "ef"]


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
    place = f'{{"type":"url","url":"https://x.test/a.png","{name}":"f"}}'
    inner = f'{{"type":"image","n":{digits},"source":{place}}}'
    source = f'{{"type":"content","content":[{inner}]}}'
    content = f'[{{"type":"document","source":{source}}}]'
    assert Ability.STORED in noted(content).needs

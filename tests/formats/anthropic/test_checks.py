"""What reading a request notes; what it refuses stands in the front's tests."""

import json
from typing import Any

import pytest

from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.formats.anthropic.checks import conversation, output, stored
from zurelay.formats.anthropic.view import REQUEST
from zurelay.formats.base import Ability
from zurelay.formats.seen import Seen


def seen(*blocks: dict[str, Any], role: str = "user", **fields: Any) -> Seen:
    body = {"messages": [{"role": role, "content": list(blocks)}], **fields}
    found = Seen()
    conversation(REQUEST.decode(json.dumps(body).encode()), found)
    return found


def test_lengths_count_everything_that_is_text() -> None:
    found = seen(
        {"type": "text", "text": "abc"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        {"type": "thinking", "thinking": "fgh", "signature": "S"},
        role="assistant",
        system="ij",
    )
    assert sorted(found.texts) == ["abc", "fgh", "ij", '{"a": 1}']
    assert found.text_length == measure(found.texts) + PER_MESSAGE
    assert found.media_count == 0


def test_the_first_of_each_need_is_named() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "a/b", "data": "AA=="}}
    found = seen({"type": "text", "text": "a"}, picture, picture)
    assert found.needs == {Ability.IMAGE: "messages[0].content[1]"}
    assert found.media_count == 2


def test_the_effort_of_a_request_without_any() -> None:
    assert output(REQUEST.decode(b"{}"), Seen()) is None


@pytest.mark.parametrize("name", ["container", "mcp_servers"])
def test_what_belongs_to_the_account_at_the_provider_is_noted(name: str) -> None:
    found = Seen()
    stored(REQUEST.decode(json.dumps({name: [{"name": "x"}]}).encode()), found)
    assert found.needs == {Ability.STORED: name}
    nothing = Seen()
    for value in ("null", "[]"):
        stored(REQUEST.decode(f'{{"{name}":{value}}}'.encode()), nothing)
    assert nothing.needs == {}

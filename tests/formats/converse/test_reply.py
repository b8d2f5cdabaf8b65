"""A plain Converse answer; that it is what its stream folds to stands with the stream."""

import json
from typing import Any

import pytest

from tests.formats.converse.bedrock import USAGE, context
from zurelay.chat.events import Choice, Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.parts import Text
from zurelay.chat.usage import Usage
from zurelay.formats.converse.reply import read


def told(body: Any) -> Reply | Fault:
    return read(body if isinstance(body, bytes) else json.dumps(body).encode(), context())


def answer(*content: Any, reason: str = "end_turn") -> dict[str, Any]:
    message = {"role": "assistant", "content": list(content)}
    return {"output": {"message": message}, "stopReason": reason, "usage": USAGE}


def test_an_answer_is_read_whole() -> None:
    assert told(answer({"text": "Hi"}, "odd", {"future": 1})) == Reply(
        (Choice((Text("Hi"),), "stop"),), Usage(input=10, output=5)
    )


def test_the_tier_is_read_with_the_count() -> None:
    found = told({**answer({"text": "Hi"}), "serviceTier": {"type": "priority"}})
    assert isinstance(found, Reply)
    assert found.usage == Usage(input=10, output=5, tier="priority")


def test_without_a_count_there_is_no_usage() -> None:
    found = told({**answer({"text": "Hi"}), "usage": None})
    assert isinstance(found, Reply)
    assert found.usage is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", FaultKind.BAD_ANSWER),
        (b"[]", FaultKind.BAD_ANSWER),
        ({"output": {}}, FaultKind.BAD_ANSWER),
        ({"__type": "x#ThrottlingException", "message": "m"}, FaultKind.RATE_LIMITED),
        (answer({"text": "Hi"}, reason="malformed_tool_use"), FaultKind.MODEL_FAULT),
    ],
)
def test_what_is_no_answer_is_a_fault(body: Any, kind: FaultKind) -> None:
    found = told(body)
    assert isinstance(found, Fault)
    assert found.kind is kind

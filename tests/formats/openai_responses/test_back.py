"""Responses upstream under a Chat Completions caller, both ways."""

import json
from typing import Any

from tests.formats.openai_responses.responses import context, message, response
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.registry import exchange, front

JOIN = exchange("openai_chat", "openai_responses")
REASONING = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "proof",
}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


def written(messages: list[Any], realm: str) -> list[Any]:
    inbound = front("openai_chat").read(json.dumps({"model": "m", "messages": messages}).encode())
    target = Target("m", "upstream", Profile(realm=realm), effort="high")
    items: list[Any] = json.loads(JOIN.write(inbound, target).body)["input"]
    return items


def test_encrypted_thinking_survives_a_round_trip_through_the_caller() -> None:
    body = json.dumps(response([REASONING, CALL])).encode()
    answer = json.loads(JOIN.whole(body, context()).body)["choices"][0]["message"]
    assert answer["reasoning_content"] == "Hm."
    tool = {"role": "tool", "tool_call_id": "c", "content": "1"}
    history = [{"role": "user", "content": "x"}, answer, tool]
    items = written(history, "openai")
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert items[1] == {"type": "reasoning", "summary": [], "encrypted_content": "proof"}
    elsewhere = written(history, "azure-openai")
    assert elsewhere == [items[0], *items[2:]]
    assert "Hm." not in json.dumps(elsewhere)


def test_a_longer_conversation_starts_with_the_items_of_the_shorter() -> None:
    body = json.dumps(response([REASONING, message("Hi")])).encode()
    answer = json.loads(JOIN.whole(body, context()).body)["choices"][0]["message"]
    first = [{"role": "system", "content": "s"}, {"role": "user", "content": "x"}, answer]
    longer = [*first, {"role": "user", "content": "y"}]
    assert written(longer, "openai")[:-1] == written(first, "openai")


def test_error_answers_are_read() -> None:
    body = b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'
    fault = JOIN.fault(429, {"retry-after": "3"}, body, 0.0, Profile())
    assert (fault.kind, fault.retry_after) == (FaultKind.RATE_LIMITED, 3.0)

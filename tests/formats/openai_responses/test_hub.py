"""Plain answers for callers of Responses, and what they send back of them."""

import json
from typing import Any

import pytest

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, context, read
from zurelay.chat.events import Choice, FinishReason, Reply
from zurelay.chat.parts import Part, RefusalText, Text, Thinking, ToolCall
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import Target
from zurelay.formats.openai_responses.hub import ResponsesHubFront
from zurelay.formats.registry import exchange

HUB = ResponsesHubFront()


def reply(*parts: Part, reason: FinishReason = "stop", **asked: Any) -> dict[str, Any]:
    body = HUB.reply(Reply((Choice(parts, reason),)), Usage(input=1, output=2), context(**asked))
    found: dict[str, Any] = json.loads(body)
    return found


def test_an_answer_has_all_that_clients_require() -> None:
    found = reply(Text("Hello"))
    assert (found["id"], found["object"], found["status"]) == ("resp_1", "response", "completed")
    assert (found["model"], found["created_at"]) == ("public-model", 1_700_000_000)
    assert found["usage"]["input_tokens_details"] == {"cached_tokens": 0}
    assert {"parallel_tool_calls", "tool_choice", "tools", "error"} <= set(found)
    (item,) = found["output"]
    assert (item["role"], item["content"][0]["text"]) == ("assistant", "Hello")


def test_what_is_said_in_a_row_is_one_item() -> None:
    (item,) = reply(Text("I "), Text(""), RefusalText("won't"))["output"]
    assert [part["type"] for part in item["content"]] == ["output_text", "refusal"]


def test_a_cut_answer_says_why() -> None:
    found = reply(Text("Hel"), reason="length")
    assert found["status"] == "incomplete"
    assert found["incomplete_details"] == {"reason": "max_output_tokens"}


def test_an_answer_sent_back_is_the_answer_that_was_given() -> None:
    parts = (
        Thinking("Hm", "SIG", "anthropic/messages"),
        Thinking("", "ENC", "openai/responses", redacted=True),
        Text("Let me see."),
        ToolCall("call_1", "f", '{"a": 1}'),
        Thinking("", "G", "gemini/gemini", call_id="call_1"),
        ToolCall("call_2", "patch", '{"input":"+x"}'),
        ToolCall("call_3", "clock__f", "{}"),
    )
    tools = [FUNCTION, CUSTOM, {"type": "namespace", "name": "clock", "tools": [FUNCTION]}]
    output = reply(*parts, tools=tools)["output"]
    assert (output[-1]["name"], output[-1]["namespace"]) == ("f", "clock")
    (turn,) = HUB.request(read(input=output, tools=tools)).turns
    assert turn.parts == parts


def test_what_was_left_out_is_named_as_the_caller_named_it() -> None:
    inbound = read(max_output_tokens=9, text={"verbosity": "low"})
    to = Target("m", "up", Profile(), max_output=5)
    out = exchange("openai_responses", "anthropic").write(inbound, to)
    assert set(out.dropped) == {"max_output_tokens", "text.verbosity"}


def test_so_is_what_is_refused_here_or_by_the_provider() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}}
    inbound = read(input=[{"role": "user", "content": [audio]}])
    with pytest.raises(Refused) as caught:
        exchange("openai_responses", "anthropic").write(inbound, Target("m", "up", Profile()))
    assert caught.value.problem.param == "input"
    chat = exchange("openai_responses", "openai_chat")
    for param, own in (("messages[2].content", "input"), ("max_tokens", "max_output_tokens")):
        error = {"error": {"message": "bad", "param": param, "code": "invalid_value"}}
        body = json.dumps(error).encode()
        assert chat.fault(400, {}, body, 0.0, Profile()).param == own

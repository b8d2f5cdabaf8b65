import json
from typing import Any

import pytest

from tests.sandbox.calling import CITY, call, frames, whole
from zurelay.chat.usage import Usage
from zurelay.sandbox.anthropic import usage_object
from zurelay.sandbox.base import Answer
from zurelay.sandbox.proofs import proof

PATH = "/v1/messages"
USER = {"role": "user", "content": "Hello there"}
TOOLS = [{"name": name, "input_schema": CITY} for name in ("get_weather", "get_time")]


def ask(model: str, **fields: Any) -> Answer:
    return call(PATH, {"model": model, "max_tokens": 5000, "messages": [USER], **fields})


def error(told: Answer) -> dict[str, Any]:
    body = whole(told)
    assert body["type"] == "error"
    assert body["request_id"] == "req_abc"
    return body["error"]  # type: ignore[no-any-return]


def fold(events: list[tuple[str, Any]]) -> dict[str, Any]:
    """The message that a client puts together; checks the order of the events on the way."""
    names = [name for name, _ in events]
    assert names[0] == "message_start"
    assert names[-2:] == ["message_delta", "message_stop"]
    message: dict[str, Any] = events[0][1]["message"]
    inputs: dict[int, str] = {}
    opened = None
    for name, data in events:
        assert data["type"] == name
        if name == "content_block_start":
            assert opened is None
            opened = data["index"]
            assert opened == len(message["content"])
            message["content"].append(data["content_block"])
        elif name == "content_block_delta":
            assert data["index"] == opened
            block, delta = message["content"][-1], data["delta"]
            if delta["type"] == "input_json_delta":
                inputs[opened] = inputs.get(opened, "") + delta["partial_json"]
            else:
                field = delta["type"].removesuffix("_delta")
                block[field] += delta[field]
        elif name == "content_block_stop":
            if opened in inputs:
                message["content"][-1]["input"] = json.loads(inputs[opened])
            opened = None
        elif name == "message_delta":
            message |= data["delta"]
            message["usage"] = data["usage"]
    return message


MODELS = (
    "echo",
    "lorem?tokens=7",
    "reasoning",
    "tools",
    "json",
    "refusal",
    "usage?prompt=100&cached=60&cache_write=10&completion=9&reasoning=4",
)


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_folds_to_the_plain_answer(model: str) -> None:
    fields: dict[str, Any] = {"tools": TOOLS} if model == "tools" else {}
    plain = whole(ask(model, **fields))
    assert fold(frames(ask(model, stream=True, **fields))) == plain
    assert (plain["id"], plain["type"], plain["role"]) == ("msg_abc", "message", "assistant")


def test_the_question_comes_back() -> None:
    plain = whole(ask("echo"))
    assert plain["content"] == [{"type": "text", "text": "Hello there"}]
    assert (plain["stop_reason"], plain["stop_sequence"]) == ("end_turn", None)


def test_the_input_is_counted_before_the_answer_and_a_ping_comes() -> None:
    events = frames(ask("usage", stream=True))
    assert events[0][1]["message"]["usage"]["cache_read_input_tokens"] == 800
    assert events[0][1]["message"]["usage"]["output_tokens"] == 1
    assert [name for name, _ in events].count("ping") == 1


def test_counts_leave_cached_input_out() -> None:
    told = usage_object(Usage(input=5, cached_input=3, cache_write=2, output=9, reasoning=4))
    assert (told["input_tokens"], told["cache_read_input_tokens"]) == (5, 3)
    assert told["cache_creation_input_tokens"] == 2
    assert (told["output_tokens"], told["output_tokens_details"]["thinking_tokens"]) == (9, 4)


def test_calls_have_objects_for_input() -> None:
    plain = whole(ask("tools", tools=TOOLS))
    assert plain["stop_reason"] == "tool_use"
    assert [block["name"] for block in plain["content"]] == ["get_weather", "get_time"]
    for block in plain["content"]:
        assert block["id"].startswith("toolu_")
        assert isinstance(block["input"]["city"], str)


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ({"type": "auto"}, ["get_weather", "get_time"]),
        ({"type": "any", "disable_parallel_tool_use": True}, ["get_weather"]),
        ({"type": "tool", "name": "get_time"}, ["get_time"]),
        ({"type": "none"}, []),
    ],
)
def test_tool_choice_is_heeded(choice: dict[str, Any], names: list[str]) -> None:
    plain = whole(ask("tools", tools=TOOLS, tool_choice=choice))
    assert [block["name"] for block in plain["content"] if block["type"] == "tool_use"] == names


def called(*results: dict[str, Any]) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Rome"}}
    turns: list[dict[str, Any]] = [USER, {"role": "assistant", "content": [use]}]
    return [*turns, {"role": "user", "content": list(results)}] if results else turns


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "Sunny"}


def test_results_are_answered_from() -> None:
    plain = whole(ask("tools", tools=TOOLS, messages=called(result("a"))))
    assert plain["content"][0]["text"] == "From the tool results: get_weather answered: Sunny"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (called({"type": "text", "text": "no"}), "without `tool_result` blocks immediately"),
        (called(), "without `tool_result` blocks immediately"),
        (called(result("a"), result("b")), "unexpected `tool_use_id`"),
        ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "must be non-empty"),
        ([{"role": "tool", "content": "x"}], "messages.0.role"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "expected blocks"),
    ],
)
def test_conversations_out_of_order_are_refused(messages: list[Any], said: str) -> None:
    told = ask("tools", tools=TOOLS, messages=messages)
    assert told.status == 400
    assert error(told)["type"] == "invalid_request_error"
    assert said in error(told)["message"]


def thought(signature: str) -> list[dict[str, Any]]:
    block = {"type": "thinking", "thinking": "Hm.", "signature": signature}
    content = [block, {"type": "text", "text": "Yes."}]
    return [USER, {"role": "assistant", "content": content}, USER]


def test_thinking_is_signed_and_its_signature_checked() -> None:
    thinking = whole(ask("reasoning", thinking={"type": "adaptive"}))["content"][0]
    assert thinking["signature"] == proof(thinking["thinking"])
    assert ask("reasoning", messages=thought(proof("Hm."))).status == 200
    told = ask("reasoning", messages=thought(proof("Something else.")))
    assert told.status == 400
    assert error(told)["message"] == (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    )


@pytest.mark.parametrize(("data", "status"), [(proof("Hm."), 200), ("bm90IG91cnM=", 400)])
def test_thinking_that_is_hidden_is_checked_too(data: str, status: int) -> None:
    content = [{"type": "redacted_thinking", "data": data}, {"type": "text", "text": "Yes."}]
    messages = [USER, {"role": "assistant", "content": content}, USER]
    assert ask("reasoning", messages=messages).status == status


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({}, 60),
        ({"thinking": {"type": "disabled"}}, 0),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, 20),
        ({"output_config": {"effort": "max"}}, 600),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, 8),
        ({"thinking": {"type": "enabled", "budget_tokens": 4096}}, 20),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, 60),
    ],
)
def test_thinking_follows_effort_or_budget(fields: dict[str, Any], tokens: int) -> None:
    plain = whole(ask("reasoning", **fields))
    assert plain["usage"]["output_tokens_details"]["thinking_tokens"] == tokens
    assert [block["type"] for block in plain["content"]][-1] == "text"


def test_thinking_can_be_left_unshown() -> None:
    plain = whole(ask("reasoning", thinking={"type": "adaptive", "display": "omitted"}))
    assert plain["content"][0] == {"type": "thinking", "thinking": "", "signature": proof("")}


def test_json_fits_the_schema() -> None:
    config = {"format": {"type": "json_schema", "schema": CITY}}
    plain = whole(ask("json", output_config=config))
    assert list(json.loads(plain["content"][0]["text"])) == ["city"]


def test_a_refusal_is_a_stop_reason() -> None:
    plain = whole(ask("refusal"))
    assert (plain["content"], plain["stop_reason"]) == ([], "refusal")
    assert "can't help" in plain["stop_details"]["explanation"]


def test_limits_and_stop_sequences_end_an_answer() -> None:
    assert whole(ask("lorem", max_tokens=3))["stop_reason"] == "max_tokens"
    plain = whole(ask("echo", stop_sequences=["zzz", "there"]))
    assert (plain["stop_reason"], plain["stop_sequence"]) == ("stop_sequence", "there")
    assert plain["content"] == [{"type": "text", "text": "Hello "}]
    assert whole(ask("echo", stop_sequences=["there", "lo"]))["stop_sequence"] == "lo"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"frequency_penalty": 1}, "unknown field `frequency_penalty`"),
        ({"messages": []}, "at least one message"),
        ({"tool_choice": {"type": "auto"}}, "only be specified while providing tools"),
        ({"tools": [{"name": "x", "input_schema": {}}]}, "Input should be 'object'"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, "greater than or equal to 1024"),
        ({"thinking": {"type": "enabled", "budget_tokens": 6000}}, "max_tokens"),
        ({"thinking": {"type": "maybe"}}, "thinking"),
        ({"output_config": {"effort": "tiny"}}, "output_config.effort"),
        ({"output_config": {"format": {"type": "json_object"}}}, "output_config.format"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_fields_are_checked_as_there(fields: dict[str, Any], said: str) -> None:
    told = ask("echo", **fields)
    assert told.status == 400
    assert said in error(told)["message"]


@pytest.mark.parametrize(
    ("model", "status", "kind"),
    [
        ("error?status=401", 401, "authentication_error"),
        ("error?status=500", 500, "api_error"),
        ("error?status=529", 529, "overloaded_error"),
        ("error?status=418", 418, "invalid_request_error"),
        ("rate-limit", 429, "rate_limit_error"),
        ("ecko", 404, "not_found_error"),
    ],
)
def test_errors_have_their_types(model: str, status: int, kind: str) -> None:
    told = ask(model)
    assert (told.status, error(told)["type"]) == (status, kind)
    assert dict(told.headers)["request-id"] == "req_abc"


def test_an_error_says_what_it_is_told_to() -> None:
    assert dict(ask("rate-limit?retry_after=7").headers)["retry-after"] == "7"
    told = error(ask("error?status=429&code=enforced_spend_limit_reached"))
    assert told["details"] == {"error_code": "enforced_spend_limit_reached"}
    told = error(ask("error?status=400&code=context_length_exceeded"))
    assert told["message"].startswith("prompt is too long: ")
    assert "details" not in told
    assert "details" not in error(ask("ecko"))


def test_an_error_can_come_in_the_stream() -> None:
    events = frames(ask("error?status=529&after=3", stream=True))
    assert [name for name, _ in events].count("content_block_delta") == 3
    name, data = events[-1]
    assert (name, data["error"]["type"]) == ("error", "overloaded_error")


@pytest.mark.parametrize("model", ["cut?after=3", "stall?after=3"])
def test_a_broken_answer_has_no_end(model: str) -> None:
    told = ask(model, stream=True)
    names = [name for name, _ in frames(told)]
    assert told.cut
    assert names.count("content_block_delta") == 3
    assert "content_block_stop" not in names


def test_tokens_are_counted_without_an_answer() -> None:
    body = {"model": "usage?prompt=77&cached=0", "messages": [USER]}
    told = call(f"{PATH}/count_tokens", body)
    assert whole(told) == {"input_tokens": 77}
    slow = call(f"{PATH}/count_tokens", {"model": "lorem", "messages": [USER]})
    assert slow.ends_at == 0

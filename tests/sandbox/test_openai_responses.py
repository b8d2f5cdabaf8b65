import json
from typing import Any

import pytest

from tests.sandbox.calling import CITY, call, frames, whole
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Answer
from zurelay.sandbox.openai_responses import usage_object
from zurelay.sandbox.proofs import proof

PATH = "/v1/responses"
TOOLS = [
    {"type": "function", "name": name, "parameters": CITY} for name in ("get_weather", "get_time")
]
SUMMARY = {"reasoning": {"summary": "auto"}}


def ask(model: str, **fields: Any) -> Answer:
    return call(PATH, {"model": model, "input": "Hello there", **fields})


def error(told: Answer) -> dict[str, Any]:
    return whole(told)["error"]  # type: ignore[no-any-return]


def text(response: Any) -> str:
    return "".join(
        part["text"]
        for item in response["output"]
        if item["type"] == "message"
        for part in item["content"]
    )


DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.function_call_arguments.delta": "arguments",
}


def words(item: Any) -> str:
    """The words of an item."""
    if item["type"] == "function_call":
        return str(item["arguments"])
    (part,) = item.get("content") or item["summary"]
    return str(part.get("text") or part.get("refusal"))


def fold(events: list[tuple[str, Any]]) -> Any:
    """The response of the last event; checks the others against it on the way."""
    names = [name for name, _ in events]
    assert names[:2] == ["response.created", "response.in_progress"]
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert [data["type"] for _, data in events] == names
    last = events[-1][1]["response"]
    items: dict[int, Any] = {}
    pieces: dict[int, str] = {}
    for name, data in events[2:-1]:
        index = data["output_index"]
        if name == "response.output_item.added":
            items[index] = None
        elif name == "response.output_item.done":
            items[index] = data["item"]
        else:
            assert items[index] is None
            assert data["item_id"] == last["output"][index]["id"]
        if name in DELTAS:
            pieces[index] = pieces.get(index, "") + data["delta"]
    assert list(items.values()) == last["output"]
    for index, joined in pieces.items():
        assert joined == words(last["output"][index])
    return last


@pytest.mark.parametrize(
    "model",
    [
        "echo",
        "lorem?tokens=7",
        "reasoning",
        "tools",
        "json",
        "refusal",
        "usage?prompt=100&cached=60&completion=9&reasoning=4",
    ],
)
def test_a_stream_ends_with_the_plain_answer(model: str) -> None:
    fields = {**SUMMARY, **({"tools": TOOLS} if model == "tools" else {})}
    plain = whole(ask(model, **fields))
    assert fold(frames(ask(model, stream=True, **fields))) == plain
    assert (plain["id"], plain["object"], plain["status"]) == ("resp_abc", "response", "completed")


def test_the_question_comes_back_with_what_was_asked_for() -> None:
    plain = whole(ask("echo", instructions="Be brief.", temperature=0.5))
    assert text(plain) == "Hello there"
    assert (plain["instructions"], plain["temperature"]) == ("Be brief.", 0.5)
    assert plain["parallel_tool_calls"] is True
    assert plain["completed_at"] == plain["created_at"]


def test_counts_include_cached_input() -> None:
    counts = usage_object(Usage(input=5, cached_input=3, cache_write=2, output=9, reasoning=4))
    assert (counts["input_tokens"], counts["input_tokens_details"]["cached_tokens"]) == (10, 3)
    assert counts["output_tokens"] == 9
    assert counts["output_tokens_details"]["reasoning_tokens"] == 4


def test_thinking_is_encrypted_and_summed_up_on_request_alone() -> None:
    shown = whole(ask("reasoning", **SUMMARY))["output"][0]
    hidden = whole(ask("reasoning"))["output"][0]
    assert shown["type"] == "reasoning"
    assert shown["summary"][0]["text"]
    assert hidden["summary"] == []
    assert hidden["encrypted_content"] == shown["encrypted_content"]


def test_the_effort_decides_how_long_it_thinks() -> None:
    plain = whole(ask("reasoning", reasoning={"effort": "low"}))
    assert plain["usage"]["output_tokens_details"]["reasoning_tokens"] == 20
    plain = whole(ask("reasoning", reasoning={"effort": "none"}))
    assert [item["type"] for item in plain["output"]] == ["message"]


def test_calls_have_two_ids() -> None:
    first, second = whole(ask("tools", tools=TOOLS))["output"]
    assert (first["name"], second["name"]) == ("get_weather", "get_time")
    assert first["id"].startswith("fc_")
    assert first["call_id"].startswith("call_")
    assert "city" in json.loads(first["arguments"])


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("required", ["get_weather", "get_time"]),
        ("none", []),
        ({"type": "function", "name": "get_time"}, ["get_time"]),
        (
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "get_time"}],
            },
            ["get_time"],
        ),
    ],
)
def test_tool_choice_is_heeded(choice: Any, names: list[str]) -> None:
    output = whole(ask("tools", tools=TOOLS, tool_choice=choice))["output"]
    assert [item["name"] for item in output if item["type"] == "function_call"] == names


USER = {"role": "user", "content": "Hello there"}
CALL = {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "Sunny"}
THOUGHT = {"type": "reasoning", "summary": [], "encrypted_content": proof("Hm.")}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Yes."}],
}


def test_outputs_are_answered_from() -> None:
    plain = whole(ask("tools", tools=TOOLS, input=[USER, THOUGHT, CALL, OUTPUT]))
    assert text(plain) == "From the tool results: get_weather answered: Sunny"


def test_thinking_goes_back_before_what_it_led_to() -> None:
    assert ask("echo", input=[USER, THOUGHT, SAID, USER]).status == 200


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([USER, OUTPUT], "No tool call found for function call output with call_id a."),
        ([USER, CALL, USER], "No tool output found for function call a."),
        ([USER, THOUGHT, USER], "without its required following item"),
        ([USER, {**THOUGHT, "encrypted_content": "eA=="}, SAID], "could not be verified"),
        ([{"role": "tool", "content": "x"}], "role must be one of"),
        ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "A part must be"),
        ([{"role": "user", "content": 5}], "a string or a list"),
    ],
)
def test_conversations_out_of_order_are_refused(items: list[Any], message: str) -> None:
    told = ask("tools", tools=TOOLS, input=items)
    assert told.status == 400
    assert message in error(told)["message"]


def test_nothing_is_stored() -> None:
    told = ask("echo", previous_response_id="resp_1")
    assert (told.status, error(told)["code"]) == (400, "previous_response_not_found")
    told = ask("echo", input=[{"type": "item_reference", "id": "msg_1"}])
    assert told.status == 404


def test_json_fits_the_schema() -> None:
    wanted = {"type": "json_schema", "name": "city", "schema": CITY}
    plain = whole(ask("json", text={"format": wanted}))
    assert list(json.loads(text(plain))) == ["city"]


def test_a_refusal_is_a_part() -> None:
    (item,) = whole(ask("refusal"))["output"]
    assert item["content"][0]["type"] == "refusal"


def test_an_answer_at_its_limit_is_incomplete() -> None:
    plain = whole(ask("lorem?tokens=30&tps=9999", max_output_tokens=16))
    assert plain["status"] == "incomplete"
    assert plain["incomplete_details"] == {"reason": "max_output_tokens"}
    assert plain["output"][0]["status"] == "incomplete"
    events = frames(ask("lorem?tokens=30&tps=9999", max_output_tokens=16, stream=True))
    assert events[-1][0] == "response.incomplete"


def test_only_the_call_that_the_limit_cut_is_incomplete() -> None:
    names = [f"property_{number}" for number in range(8)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    tools = [tool | {"parameters": schema} for tool in TOOLS]
    output = whole(ask("tools", tools=tools, max_output_tokens=40))["output"]
    assert [item["status"] for item in output] == ["completed", "incomplete"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"input": None}, "input"),
        ({"max_output_tokens": 15}, "max_output_tokens"),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_fields_are_checked_as_there(fields: dict[str, Any], param: str) -> None:
    told = call(PATH, {"model": "echo", "input": "Hi", **fields})
    assert (told.status, error(told)["param"]) == (400, param)


def test_an_error_can_come_in_the_stream() -> None:
    events = frames(ask("error?status=500&after=3", stream=True))
    (before, said), (name, data) = events[-2:]
    assert (before, name) == ("error", "response.failed")
    assert data["response"]["status"] == "failed"
    assert data["response"]["error"]["message"] == said["message"]


def test_a_broken_answer_has_no_end() -> None:
    told = ask("cut?after=3", stream=True)
    names = [name for name, _ in frames(told)]
    assert told.cut
    assert names.count("response.output_text.delta") == 3
    assert "response.output_item.done" not in names


def test_tokens_are_counted_without_an_answer() -> None:
    told = call(f"{PATH}/input_tokens", {"model": "usage?prompt=77&cached=0", "input": "Hi"})
    assert whole(told) == {"object": "response.input_tokens", "input_tokens": 77}

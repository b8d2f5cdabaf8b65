import json
from dataclasses import replace
from typing import Any

import pytest

from tests.sandbox.playing import asking
from zurelay.chat.effort import SCALE
from zurelay.chat.parts import Image, Text, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.chat.usage import Usage
from zurelay.sandbox.behaviour import parse
from zurelay.sandbox.draft import THINKING_TOKENS, Draft, draft, lorem
from zurelay.sandbox.tokens import pieces

WEATHER = Tool(
    "get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CLOCK = Tool("get_time")


def written(model: str, request: Request | None = None) -> Draft:
    return draft(parse(model), request or asking(), "seed")


def user(*parts: Any) -> Turn:
    return Turn("user", parts)


def test_echo_answers_the_last_user_text() -> None:
    turns = (user(Text("first")), Turn("assistant", (Text("no"),)), user(Text("second")))
    assert written("echo", Request(turns)).text == "second"


def test_echo_joins_the_text_parts_of_a_message() -> None:
    turns = (user(Text("look at this"), Image(url="https://example.com/a.png"), Text("please")),)
    assert written("echo", Request(turns)).text == "look at this\nplease"


def test_echo_names_other_parts_where_there_is_no_text() -> None:
    assert written("echo", Request((user(Image(url="x")),))).text == "[image]"


def test_echo_of_nothing_is_no_empty_answer() -> None:
    assert written("echo", Request((Turn("system", (Text("be brief"),)),))).text
    assert written("echo", asking("")).text


def test_echo_keeps_a_text_exactly() -> None:
    text = "  spaces \n\n and 😀 emoji\t"
    assert written("echo", asking(text)).text == text


@pytest.mark.parametrize("tokens", [0, 1, 2, 200, 10_000])
def test_lorem_has_exactly_the_tokens_asked_for(tokens: int) -> None:
    assert len(pieces(lorem(tokens))) == tokens
    assert written(f"lorem?tokens={tokens}").text == lorem(tokens)


@pytest.mark.parametrize("effort", SCALE)
def test_thinking_is_as_long_as_the_effort_asks_for(effort: str) -> None:
    answer = written("reasoning", asking("Why is the sky blue?", effort=effort))
    assert len(pieces(answer.thinking)) == THINKING_TOKENS[effort]
    assert answer.text


def test_more_effort_means_more_thinking_and_none_means_none() -> None:
    lengths = [THINKING_TOKENS[effort] for effort in SCALE]
    assert lengths == sorted(set(lengths))
    assert lengths[0] == 0


def test_without_an_effort_the_default_is_in_force() -> None:
    assert written("reasoning").thinking == written("reasoning", asking(effort="medium")).thinking


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        written("reasoning", asking(effort="huge"))
    assert caught.value.problem.param == "reasoning_effort"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many primes are there below 1,000?", "168"),
        ("how many prime numbers are less than 10", "4"),
        ("Count the primes under 2", "0"),
        ("primes below 100000", "9,592"),
    ],
)
def test_reasoning_counts_primes(question: str, answer: str) -> None:
    assert f"There are {answer} primes" in written("reasoning", asking(question)).text


def test_reasoning_does_not_count_for_ever() -> None:
    assert "There are" not in written("reasoning", asking("primes below 999,999,999")).text


def test_tools_are_called_with_arguments_that_fit() -> None:
    answer = written("tools", asking(tools=(WEATHER,)))
    assert [call.name for call in answer.calls] == ["get_weather"]
    assert json.loads(answer.calls[0].arguments) == {"city": "text"}
    assert answer.text == ""


def test_two_tools_are_called_at_once_and_no_more() -> None:
    third = replace(CLOCK, name="third")
    answer = written("tools", asking(tools=(WEATHER, CLOCK, third)))
    assert [call.name for call in answer.calls] == ["get_weather", "get_time"]
    assert answer.calls[0].id != answer.calls[1].id
    assert answer.calls[1].arguments == "{}"


def test_calls_are_not_parallel_when_the_caller_says_so() -> None:
    request = asking(tools=(WEATHER, CLOCK), parallel_tool_calls=False)
    assert len(written("tools", request).calls) == 1


def test_a_named_tool_is_the_one_called() -> None:
    request = asking(tools=(WEATHER, CLOCK), tool_choice=ToolChoice("named", "get_time"))
    assert [call.name for call in written("tools", request).calls] == ["get_time"]


def test_a_named_tool_that_is_not_given_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        written("tools", asking(tools=(WEATHER,), tool_choice=ToolChoice("named", "other")))
    assert caught.value.problem.param == "tool_choice"


def test_without_tools_the_model_says_so() -> None:
    assert "No tools" in written("tools").text
    forbidden = asking(tools=(WEATHER,), tool_choice=ToolChoice("none"))
    assert written("tools", forbidden).calls == ()


def test_tool_results_become_text() -> None:
    turns = (
        user(Text("weather?")),
        Turn("assistant", (ToolCall("c1", "get_weather", "{}"), ToolCall("c2", "get_time", "{}"))),
        user(ToolResult("c1", (Text("sunny"),))),
        user(ToolResult("c2", (Text("noon"),))),
    )
    answer = written("tools", Request(turns, tools=(WEATHER,)))
    assert answer.calls == ()
    assert "get_weather answered: sunny; get_time answered: noon" in answer.text


def test_a_new_question_after_an_answer_calls_again() -> None:
    turns = (
        Turn("assistant", (ToolCall("c1", "get_weather", "{}"),)),
        user(ToolResult("c1", (Text("sunny"),))),
        Turn("assistant", (Text("It is sunny."),)),
        user(Text("and tomorrow?")),
    )
    assert written("tools", Request(turns, tools=(WEATHER,))).calls


def test_json_fits_its_schema() -> None:
    wanted = AnswerFormat("json_schema", schema={"properties": {"n": {"type": "integer"}}})
    assert json.loads(written("json", asking(answer_format=wanted)).text) == {"n": 1}


def test_json_without_a_schema_is_an_object() -> None:
    wanted = AnswerFormat("json_object")
    assert json.loads(written("json", asking("hi", answer_format=wanted)).text)["answer"] == "hi"
    assert isinstance(json.loads(written("json").text), dict)


def test_a_refusal_has_no_text() -> None:
    answer = written("refusal")
    assert (answer.text, bool(answer.refusal)) == ("", True)


def test_usage_is_reported_in_leaf_classes() -> None:
    model = "usage?prompt=1000&cached=800&cache_write=50&completion=60&reasoning=20"
    answer = written(model)
    assert answer.usage == Usage(
        input=150, cached_input=800, cache_write=50, output=60, reasoning=20
    )
    assert (len(pieces(answer.text)), len(pieces(answer.thinking))) == (40, 20)


def test_an_interrupted_answer_has_more_text_than_arrives() -> None:
    for model in ("cut?after=7", "stall?after=7", "error?after=7"):
        assert len(pieces(written(model).text)) > 7

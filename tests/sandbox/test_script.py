from itertools import pairwise

import pytest

from tests.sandbox.playing import asking
from zurelay.chat.events import (
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.chat.request import Request, Tool
from zurelay.sandbox.behaviour import parse
from zurelay.sandbox.draft import draft
from zurelay.sandbox.script import Ending, Script, script

TOOLS = (Tool("one", parameters={"properties": {"x": {"type": "string"}}}), Tool("two"))


def planned(model: str, request: Request | None = None) -> Script:
    request = request or asking()
    behaviour = parse(model)
    return script(behaviour, draft(behaviour, request, "s"), request)


def text(plan: Script, choice: int = 0) -> str:
    events = [beat.event for beat in plan.beats]
    return "".join(
        event.text for event in events if isinstance(event, TextDelta) and event.choice == choice
    )


def reasons(plan: Script) -> list[str]:
    return [beat.event.reason for beat in plan.beats if isinstance(beat.event, Stopped)]


def test_tokens_come_at_their_pace_after_the_first() -> None:
    plan = planned("lorem?tokens=4&tps=2&first=3")
    times = [beat.at for beat in plan.beats if isinstance(beat.event, TextDelta)]
    assert times == [3.0, 3.5, 4.0, 4.5]
    assert (plan.begins_at, plan.ends_at) == (3.0, 4.5)


def test_without_a_pace_all_comes_at_once() -> None:
    assert {beat.at for beat in planned("echo").beats} == {0.0}


def test_no_answer_takes_longer_than_the_bound() -> None:
    plan = planned("lorem?tokens=10000&tps=0.001&first=200")
    assert plan.begins_at == 200
    assert plan.ends_at == pytest.approx(300)
    assert len(plan.beats) == 10_001


def test_beats_are_in_order_of_time() -> None:
    plan = planned("lorem?tokens=50&tps=7", asking(n=3))
    assert all(one.at <= other.at for one, other in pairwise(plan.beats))


def test_the_token_limit_cuts_and_says_length() -> None:
    plan = planned("lorem?tokens=10", asking(max_output=4))
    assert reasons(plan) == ["length"]
    assert plan.usage.output == 4
    assert text(plan) == "Lorem ipsum dolor sit"


def test_an_answer_of_exactly_the_limit_is_complete() -> None:
    assert reasons(planned("lorem?tokens=4", asking(max_output=4))) == ["stop"]


def test_a_limit_of_zero_gives_nothing_and_says_length() -> None:
    plan = planned("echo", asking(max_output=0))
    assert (text(plan), reasons(plan), plan.usage.output) == ("", ["length"], 0)


def test_thinking_counts_against_the_limit() -> None:
    plan = planned("reasoning", asking(max_output=10, effort="high"))
    assert (text(plan), reasons(plan)) == ("", ["length"])
    assert (plan.usage.output, plan.usage.reasoning) == (10, 10)


def test_thinking_comes_first_and_is_counted() -> None:
    plan = planned("reasoning", asking(effort="low"))
    kinds = [type(beat.event) for beat in plan.beats]
    assert kinds[:20] == [ThinkingDelta] * 20
    assert kinds[20] is TextDelta
    assert plan.usage.reasoning == 20
    assert plan.usage.output == len(plan.beats) - 1


@pytest.mark.parametrize("stop", [("dolor",), ("nothing", "dolor", "sit"), ("olor",)])
def test_the_first_stop_sequence_ends_the_text(stop: tuple[str, ...]) -> None:
    plan = planned("lorem?tokens=10", asking(stop=stop))
    assert (
        text(plan) == "Lorem ipsum dolor sit".partition(stop[-1] if len(stop) == 1 else "dolor")[0]
    )
    assert reasons(plan) == ["stop"]


def test_a_stop_sequence_that_does_not_occur_changes_nothing() -> None:
    assert text(planned("echo", asking(stop=("zzz", "")))) == "Hello there"


def test_calls_open_with_their_name_and_stream_their_arguments() -> None:
    plan = planned("tools", asking(tools=TOOLS))
    events = [beat.event for beat in plan.beats]
    opened = [event for event in events if isinstance(event, ToolCallStarted)]
    assert [(event.index, event.name) for event in opened] == [(0, "one"), (1, "two")]
    arguments = "".join(
        event.arguments for event in events if isinstance(event, ToolCallDelta) and event.index == 0
    )
    assert arguments == '{"x":"text"}'
    assert reasons(plan) == ["tool_calls"]


def test_a_call_cut_by_the_limit_says_length() -> None:
    assert reasons(planned("tools", asking(tools=TOOLS, max_output=1))) == ["length"]


def test_each_choice_is_whole_and_has_its_own_calls() -> None:
    plan = planned("echo", asking(n=3))
    assert {text(plan, choice) for choice in range(3)} == {"Hello there"}
    assert [beat.event.choice for beat in plan.beats[-3:] if isinstance(beat.event, Stopped)] == [
        0,
        1,
        2,
    ]
    assert plan.usage.output == 6
    called = planned("tools", asking(tools=TOOLS, n=2))
    ids = {beat.event.id for beat in called.beats if isinstance(beat.event, ToolCallStarted)}
    assert len(ids) == 4
    refused = planned("refusal", asking(n=2))
    assert {
        beat.event.choice for beat in refused.beats if isinstance(beat.event, RefusalDelta)
    } == {
        0,
        1,
    }


def test_many_choices_share_the_bound_on_tokens() -> None:
    plan = planned("lorem?tokens=10000", asking(n=128))
    assert plan.usage.output <= 10_000
    assert reasons(plan) == ["length"] * 128


@pytest.mark.parametrize(
    ("model", "ending"),
    [
        ("cut?after=3", Ending.CUT),
        ("stall?after=3", Ending.STALL),
        ("error?after=3", Ending.ERROR),
    ],
)
def test_a_broken_answer_has_its_tokens_and_no_end(model: str, ending: Ending) -> None:
    plan = planned(model)
    assert plan.ending is ending
    assert len(plan.beats) == 3
    assert reasons(plan) == []
    assert not plan.silent
    assert (plan.failure is not None) == (ending is Ending.ERROR)


def test_a_stall_lasts_until_the_bound() -> None:
    assert planned("stall?after=3").ends_at == 300


@pytest.mark.parametrize("model", ["cut?after=0", "stall?after=0"])
def test_nothing_at_all_comes_before_token_zero(model: str) -> None:
    assert planned(model).silent


def test_usage_is_what_the_model_is_told_to_report() -> None:
    plan = planned("usage?prompt=100&cached=80&completion=5")
    assert (plan.usage.prompt, plan.usage.cached_input, plan.usage.output) == (100, 80, 5)

"""How a level is written, by the profile's form."""

from typing import Any

import pytest

from zurelay.chat.effort import BUDGETS, SCALE
from zurelay.chat.profile import EffortForm, Profile
from zurelay.formats.openai_chat.effort import write


@pytest.mark.parametrize(
    ("form", "low", "none"),
    [
        ("reasoning_effort", {"reasoning_effort": "low"}, {"reasoning_effort": "none"}),
        ("reasoning_object", {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "none"}}),
        ("thinking_type", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
         {"thinking": {"type": "disabled"}}),
        ("enable_thinking", {"enable_thinking": True, "thinking_budget": 2048}, {"enable_thinking": False}),
        ("reasoning_enabled", {"reasoning": {"enabled": True}, "reasoning_effort": "low"},
         {"reasoning": {"enabled": False}}),
        ("template_kwargs", {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "low"},
         {"chat_template_kwargs": {"enable_thinking": False}}),
        ("cohere_thinking", {"thinking": {"type": "enabled", "token_budget": 2048}},
         {"thinking": {"type": "disabled"}}),
        ("nothing", {}, {}),
    ],
)  # fmt: skip
def test_forms(form: EffortForm, low: Any, none: Any) -> None:
    profile = Profile(effort_form=form)
    assert write("low", profile) == low
    assert write("none", profile) == none


def test_words_of_the_profile_replace_the_level() -> None:
    words = Profile(effort_words=(("medium", "default"), ("high", "")))
    assert write("medium", words) == {"reasoning_effort": "default"}
    assert write("high", words) == {}
    switch = words.but(effort_form="thinking_type")
    assert write("high", switch) == {"thinking": {"type": "enabled"}}
    assert write("high", words.but(effort_form="reasoning_object")) == {
        "reasoning": {"enabled": True}
    }
    budget = Profile(effort_form="enable_thinking", effort_words=(("low", "500"), ("high", "xhigh")),
                     budget_field="thinking_budget")  # fmt: skip
    assert write("low", budget) == {"enable_thinking": True, "thinking_budget": 500}
    assert write("high", budget) == {"enable_thinking": True, "reasoning_effort": "xhigh"}


def test_off_is_written_as_the_profile_says() -> None:
    assert write("none", Profile(effort_off="omit")) == {}
    assert write("none", Profile(effort_off="disabled")) == {"thinking": {"type": "disabled"}}
    adds = Profile(effort_form="thinking_type", thinking_adds={"clear_thinking": False})
    assert write("low", adds)["thinking"] == {"type": "enabled", "clear_thinking": False}


@pytest.mark.parametrize("level", SCALE)
def test_every_level_has_a_budget(level: str) -> None:
    wrote = write(level, Profile(effort_form="enable_thinking"))
    assert wrote["enable_thinking"] == (level != "none")
    assert wrote.get("thinking_budget", 0) == BUDGETS.get(level, 0)


@pytest.mark.parametrize(
    ("limit", "thinking"),
    [
        (None, {"type": "enabled", "token_budget": 16384}),
        (4096, {"type": "enabled", "token_budget": 3072}),
        (1024, {"type": "disabled"}),
    ],
)
def test_a_budget_inside_the_limit_leaves_room_for_the_answer(
    limit: int | None, thinking: Any
) -> None:
    assert write("high", Profile(effort_form="cohere_thinking"), limit) == {"thinking": thinking}

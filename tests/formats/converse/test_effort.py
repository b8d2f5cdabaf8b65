"""Levels in the words of the labs behind Converse."""

from typing import Any

import pytest

from tests.formats.converse.bedrock import PLAIN
from zurelay.chat.profile import Profile
from zurelay.formats.base import Target
from zurelay.formats.converse.effort import fields, is_nova, level_for

NOVA = "us.amazon.nova-2-lite-v1:0"


def target(model: str, level: str | None, profile: Profile = PLAIN) -> Target:
    return Target("public", model, profile, effort=level)


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("openai.gpt-oss-120b-1:0", {"reasoning_effort": "low"}),
        ("us.openai.gpt-oss-20b-1:0", {"reasoning_effort": "low"}),
        ("us.openai.gpt-6-sol", {"reasoning": {"effort": "low"}}),
        ("openai.gpt-5.6-luna", {"reasoning": {"effort": "low"}}),
        ("my-openai.gpt-6", {"reasoning_effort": "low"}),
        ("moonshotai.kimi-k3", {"reasoning_effort": "low"}),
        (NOVA, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
    ],
)
def test_each_lab_has_its_words(model: str, sent: Any) -> None:
    assert fields("low", target(model, "low")) == sent
    assert fields(None, target(model, None)) == {}


def test_thinking_is_switched_off_in_the_labs_way() -> None:
    assert fields("none", target(NOVA, "none")) == {}
    assert fields("none", target("us.openai.gpt-6-sol", "none")) == {
        "reasoning": {"effort": "none"}
    }


def test_the_profile_decides_over_the_name() -> None:
    assert fields("low", target("x", "low", PLAIN.but(effort_form="nothing"))) == {}
    nested = PLAIN.but(effort_form="reasoning_object", effort_words=(("low", "lo"), ("high", "")))
    assert fields("low", target("arn:x", "low", nested)) == {"reasoning": {"effort": "lo"}}
    assert fields("high", target("arn:x", "high", nested)) == {}


@pytest.mark.parametrize(
    ("asked", "limited", "level"),
    [
        (None, True, None),
        ("none", True, "none"),
        ("minimal", False, "low"),
        ("high", False, "high"),
        ("max", False, "high"),
        ("high", True, "medium"),
        ("medium", True, "medium"),
    ],
)
def test_nova_has_three_levels_and_no_limit_at_the_highest(
    asked: str | None, limited: bool, level: str | None
) -> None:
    assert is_nova(target(NOVA, asked))
    assert level_for(target(NOVA, asked), limited) == level
    assert level_for(target("openai.gpt-oss-20b-1:0", asked), limited) == asked

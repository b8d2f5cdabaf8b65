"""From levels to fields and back."""

from typing import Any

import pytest

from tests.formats.anthropic.made import target
from zurelay.formats.anthropic import effort
from zurelay.formats.base import Target
from zurelay.providers.anthropic import ANTHROPIC

SHOWN = {"type": "adaptive", "display": "summarized"}
OFF = {"type": "disabled"}


@pytest.mark.parametrize(
    ("model", "level", "thinking", "word"),
    [
        ("claude-opus-5-5", None, SHOWN, None),
        ("claude-opus-5-5", "max", SHOWN, "max"),
        ("claude-opus-5", "none", OFF, None),
        ("claude-opus-4-8", None, None, None),
        ("claude-opus-4-8", "xhigh", SHOWN, "xhigh"),
        ("claude-opus-4-8", "none", None, None),
        ("claude-opus-4-6", "max", SHOWN, "max"),
        ("claude-haiku-4-5", None, None, None),
        ("claude-haiku-4-5", "none", None, None),
        ("claude-haiku-4-5", "high", {"type": "enabled", "budget_tokens": 16384}, None),
    ],
)
def test_what_each_model_is_sent(model: str, level: str | None, thinking: Any, word: Any) -> None:
    found = effort.ask(target(model, effort=level), 32_768, obstacle=False)
    assert (found.thinking, found.effort) == (thinking, word)
    assert found.thinks == (thinking not in (None, OFF))
    assert not found.refused


@pytest.mark.parametrize(
    ("level", "limit", "tokens"),
    [
        ("minimal", 32_768, 1024),
        ("max", 32_768, 28_672),
        ("max", 64_000, 32_768),
        ("high", 2048, 1024),
        ("high", 8192, 4096),
        ("high", 10_000, 5904),
    ],
)
def test_a_budget_leaves_room_for_the_answer(level: str, limit: int, tokens: int) -> None:
    assert effort.budget(level, limit) == tokens
    assert effort.LEAST_BUDGET <= tokens < limit


@pytest.mark.parametrize(("limit", "obstacle"), [(2047, False), (9000, True)])
def test_thinking_by_budget_goes_off_rather_than_be_refused(limit: int, obstacle: bool) -> None:
    found = effort.ask(target("claude-haiku-4-5", effort="low"), limit, obstacle=obstacle)
    assert (found.thinking, found.thinks, found.refused) == (None, False, True)


def test_obstacles_do_not_matter_to_others() -> None:
    assert effort.ask(target(effort="low"), 100, obstacle=True).effort == "low"


def test_hosts_of_other_models_get_the_effort_alone() -> None:
    to = target(effort="low", quirks={"effort_form": "reasoning_effort"})
    assert effort.ask(to, 100, obstacle=False).effort == "low"
    nothing = target(effort="low", quirks={"effort_form": "nothing"})
    assert effort.ask(nothing, 100, obstacle=False) == effort.Thought()
    off = target(effort="none", quirks={"effort_form": "reasoning_effort"})
    assert effort.ask(off, 100, obstacle=False).thinking == OFF


@pytest.mark.parametrize(
    ("tokens", "level"),
    [(1024, "low"), (2048, "medium"), (12_000, "high"), (23_999, "high"), (31_999, "xhigh")],
)
def test_a_budget_as_a_word(tokens: int, level: str) -> None:
    assert effort.level_of_budget(tokens) == level


@pytest.mark.parametrize(
    ("model", "level", "thinks"),
    [
        ("claude-opus-5-5", None, True),
        ("claude-opus-4-8", None, False),
        ("claude-opus-4-8", "low", True),
        ("claude-opus-5", "none", False),
        ("claude-haiku-4-5", None, False),
    ],
)
def test_whether_a_request_will_think(model: str, level: str | None, thinks: bool) -> None:
    assert effort.may_think(target(model, effort=level)) == thinks


def test_of_a_model_nobody_knows_nothing_is_asked_unasked() -> None:
    unknown = Target("x", "x", ANTHROPIC.profile)
    assert effort.ask(unknown, 8192, obstacle=False) == effort.Thought()
    assert not effort.may_think(unknown)

"""Which format an upstream is spoken to in."""

import pytest

from zurelay.formats.base import Ability
from zurelay.formats.choose import RESPONSES, back_format
from zurelay.formats.registry import BACKS

TOOLS = {Ability.TOOLS: "tools"}
GPT = frozenset({"tools", "max"})
CHAT = "openai_chat"


@pytest.mark.parametrize(
    ("needs", "effort", "chosen"),
    [
        ({}, "high", CHAT),
        ({}, "max", RESPONSES),
        ({}, None, CHAT),
        (TOOLS, "high", RESPONSES),
        (TOOLS, None, RESPONSES),  # the default may think
        (TOOLS, "none", CHAT),
        (TOOLS, "max", RESPONSES),
        ({Ability.AUDIO: "messages[0].content[0]", **TOOLS}, "high", CHAT),
    ],
)
def test_what_the_chat_endpoint_lacks_goes_to_the_other(
    needs: dict[Ability, str], effort: str | None, chosen: str
) -> None:
    assert back_format(CHAT, (RESPONSES,), lacks=GPT, needs=needs, effort=effort) == chosen


@pytest.mark.parametrize(("effort", "chosen"), [("low", RESPONSES), ("none", CHAT), (None, CHAT)])
def test_thinking_that_chat_does_not_share_is_fetched_where_it_is_shared(
    effort: str | None, chosen: str
) -> None:
    lacks = frozenset({"thinking"})
    assert back_format(CHAT, (RESPONSES,), lacks=lacks, needs={}, effort=effort) == chosen


def test_a_provider_without_the_other_format_is_spoken_to_in_its_own() -> None:
    assert back_format(CHAT, (), lacks=GPT, needs=TOOLS, effort="max") == CHAT


def test_a_models_only_format_wins() -> None:
    assert back_format(CHAT, (), only="anthropic", needs={}, effort=None) == "anthropic"


def test_files_go_where_they_are_taken() -> None:
    needs = {Ability.PDF: "messages[0].content[1]"}
    assert back_format(CHAT, (RESPONSES,), files=False, needs=needs, effort="low") == RESPONSES
    assert back_format(CHAT, (RESPONSES,), files=True, needs=needs, effort="low") == CHAT


def test_the_chosen_names_are_registered() -> None:
    assert {CHAT, RESPONSES} <= {back.name for back in BACKS}

"""The registry: every pair of formats has its exchange."""

import pytest

from zurelay.formats.bedrock_invoke.exchange import InvokeExchange
from zurelay.formats.openai_chat.exchange import ChatToChat
from zurelay.formats.registry import BACKS, FRONTS, HUB_FRONTS, SAME, exchange, front


def test_every_front_reaches_every_back() -> None:
    assert all(front(each.name) is each for each in FRONTS)
    alone = {"embeddings", "anthropic_count"}
    assert {each.name for each in FRONTS} - {each.name for each in HUB_FRONTS} == alone
    for each in HUB_FRONTS:
        for back in BACKS:
            assert exchange(each.name, back.name) is not None


def test_the_same_format_is_edited() -> None:
    assert isinstance(exchange("openai_chat", "openai_chat"), ChatToChat)
    assert all(exchange(name, name) is same for name, same in SAME)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(KeyError):
        exchange("openai_chat", "morse")
    with pytest.raises(KeyError):
        front("morse")


def test_claude_on_bedrock_is_reached_by_every_front_that_can_be_translated() -> None:
    for each in HUB_FRONTS:
        assert isinstance(exchange(each.name, "bedrock_invoke"), InvokeExchange)

"""What a request can cost at most, for whom."""

from typing import Any

import pytest

from zurelay.access.accounts import Account
from zurelay.access.keys import Key
from zurelay.catalogue.model import Model
from zurelay.catalogue.price import parse_price
from zurelay.formats.base import Inbound
from zurelay.meter.quote import markup_of, quote
from zurelay.wire import json

NOW = 1_796_000_000.0
PRICE = parse_price(
    {
        "input": "2",
        "output": "10",
        "per_call": {"web_search": "0.01"},
        "tiers": {"flex": "0.5", "priority": "2"},
    }
)
MODEL = Model("m", "M", "v", "m", price=PRICE, markup=1_200_000)


def inbound(*marks: str, choices: int = 1, **fields: Any) -> Inbound:
    body = json.fields(json.encode({"model": "m", **fields}))
    return Inbound("openai_chat", body, "m", choices=choices, marks=frozenset(marks))


def most(asked: Inbound, tokens: int, markup: int | None = 1_000_000) -> int:
    cost = quote(MODEL, asked, 1000, NOW, markup)
    assert cost is not None
    return cost(tokens)


def test_every_choice_may_be_as_long_as_the_limit() -> None:
    assert most(inbound(), 100) == 1000 * 2000 + 100 * 10_000
    assert most(inbound(choices=3), 100) == 1000 * 2000 + 300 * 10_000


@pytest.mark.parametrize(("tier", "factor"), [("priority", 2), ("fast", 2), ("flex", 1), ("x", 1)])
def test_the_tier_asked_for_may_be_used_or_the_standard_one(tier: str, factor: int) -> None:
    assert most(inbound(service_tier=tier), 100) == factor * 3_000_000


def test_searches_are_set_aside_for() -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]
    assert most(inbound("web_search", tools=tools), 0) == 2_000_000 + 2 * 10_000_000


def test_the_models_markup_holds_where_key_and_account_have_none() -> None:
    assert most(inbound(), 100, None) == 3_600_000
    assert most(inbound(), 100, 500_000) == 1_500_000


def test_without_a_price_nothing_can_be_promised() -> None:
    assert quote(Model("m", "M", "v", "m"), inbound(), 1, NOW) is None


def key(own: str | None, accounts: str | None) -> Key:
    owner = Account("acct_1", "a", 0, markup=accounts)
    return Key("key_1", "k", "acct_1", "a", b"", "abcd", 0, markup=own, owner=owner)


@pytest.mark.parametrize(
    ("own", "accounts", "factor"),
    [("1.5", "2", 1_500_000), (None, "2", 2_000_000), ("0", "2", 0), (None, None, None)],
)
def test_the_most_specific_markup_wins(
    own: str | None, accounts: str | None, factor: int | None
) -> None:
    assert markup_of(key(own, accounts)) == factor

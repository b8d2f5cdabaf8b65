"""What costs is priced or not sent."""

from typing import Any

import pytest

from zurelay.catalogue.model import FREE, Price
from zurelay.catalogue.price import parse_price
from zurelay.formats.base import Inbound
from zurelay.meter.asked import asked, searches, tier_sent
from zurelay.wire import json

TIERED = parse_price({"input": "2", "output": "10", "tiers": {"flex": "0.5", "priority": "2"}})
FAST = parse_price({"input": "4", "output": "20", "tiers": {"fast": "2", "us": "1.1"}})
SOUND = parse_price({"input": "2", "output": "10", "audio_output": "80"})


def inbound(*marks: str, **fields: Any) -> Inbound:
    body = json.fields(json.encode({"model": "m", **fields}))
    return Inbound("openai_chat", body, "m", marks=frozenset(marks))


@pytest.mark.parametrize(
    ("fields", "price", "tier", "allows"),
    [
        ({}, TIERED, "", set()),
        ({"service_tier": "flex"}, TIERED, "flex", {"service_tier"}),
        ({"service_tier": "fast"}, TIERED, "priority", {"service_tier"}),
        ({"service_tier": "default"}, TIERED, "", {"service_tier"}),
        ({"service_tier": "auto"}, TIERED, "", set()),  # it may be any
        ({"service_tier": "ultrafast"}, TIERED, "", set()),
        ({"service_tier": "flex"}, None, "", set()),
        ({"service_tier": "flex"}, FREE, "", {"modalities", "audio", "web_search"}),
        ({"service_tier": 5}, TIERED, "", set()),
        ({"service_tier": None}, TIERED, "", set()),
        ({"speed": "fast"}, FAST, "fast", {"speed"}),
        ({"speed": "standard"}, FAST, "", {"speed"}),
        ({"inference_geo": "us"}, FAST, "us", {"inference_geo"}),
        ({"speed": "fast", "inference_geo": "us"}, FAST, "fast", {"speed"}),
        ({"speed": "standard", "inference_geo": "us"}, FAST, "us", {"speed", "inference_geo"}),
        ({"speed": "fast"}, TIERED, "", set()),
        ({"speed": "standard", "inference_geo": "global"}, TIERED, "", set()),
        ({"service_tier": "standard_only"}, FAST, "", {"service_tier"}),
        ({"modalities": ["text"]}, TIERED, "", {"modalities"}),
        ({"modalities": ["text", "audio"], "audio": {"voice": "ash"}}, TIERED, "", set()),
        ({"modalities": ["audio"], "audio": {}}, FREE, "", {"modalities", "audio", "web_search"}),
        ({"modalities": ["text", "audio"]}, SOUND, "", {"modalities", "audio"}),
    ],
)
def test_a_field_passes_only_where_the_price_knows_what_it_costs(
    fields: dict[str, Any], price: Price | None, tier: str, allows: set[str]
) -> None:
    found = asked(inbound(**fields), price)
    assert (found.tier, set(found.allows)) == (tier, allows)


def test_a_search_passes_where_it_has_a_fee() -> None:
    fee = parse_price({"input": "3", "output": "15", "per_call": {"web_search": "0.01"}})
    assert asked(inbound("web_search"), fee).allows >= {"web_search"}
    assert "web_search" not in asked(inbound("web_search"), TIERED).allows


def test_what_was_dropped_on_the_way_was_not_asked_for() -> None:
    flex = inbound(service_tier="flex")
    assert tier_sent(flex, TIERED, ()) == "flex"
    assert tier_sent(flex, TIERED, ("service_tier",)) == ""
    assert tier_sent(inbound(service_tier="default"), TIERED, ()) == ""
    assert tier_sent(inbound(), TIERED, ()) == ""
    both = inbound(speed="fast", inference_geo="us")
    assert tier_sent(both, FAST, ("inference_geo",)) == "fast"


@pytest.mark.parametrize(
    ("tools", "most"),
    [
        ([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}], 3),
        ([{"type": "web_search_20250305", "name": "web_search"}, {"name": "f"}], 10),
        ([{"type": "web_search_20250305", "max_uses": -5}], 0),
    ],
)
def test_searches_are_bounded_by_the_request_or_by_what_is_usual(
    tools: list[Any], most: int
) -> None:
    assert searches(inbound("web_search", tools=tools)) == most
    assert searches(inbound(tools=tools)) == 0

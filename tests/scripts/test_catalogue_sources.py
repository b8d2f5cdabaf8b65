from decimal import Decimal

from scripts.catalogue_sources import differing, genai_facts, litellm_facts, pi_facts, text

PI = {
    "name": "M",
    "contextWindow": 10,
    "maxTokens": 5,
    "input": ["text"],
    "reasoning": True,
    "cost": {
        "input": 2,
        "output": 10,
        "cacheRead": Decimal("0.1"),
        "cacheWrite": 0,
        "tiers": [
            {"inputTokensAbove": 272000, "input": 4, "output": 15, "cacheRead": 0, "cacheWrite": 0}
        ],
    },
}


def test_a_zero_in_pis_costs_means_no_such_price() -> None:
    facts = pi_facts(PI)
    assert facts.price == {"input": 2, "output": 10, "cached_input": Decimal("0.1")}
    assert facts.above == {272000: {"input": 4, "output": 15}}


def test_litellms_prices_per_token_lose_their_binary_noise() -> None:
    facts = litellm_facts(
        {
            "input_cost_per_token": Decimal("1.2500000000000001E-6"),
            "output_cost_per_token": Decimal("1E-5"),
            "cache_creation_input_token_cost": Decimal("2.5E-6"),
            "cache_creation_input_token_cost_above_12hr": Decimal("5E-6"),
            "input_cost_per_token_above_272k_tokens": Decimal("4E-6"),
            "supports_vision": True,
            "supports_pdf_input": True,
        }
    )
    assert facts.price["input"] == Decimal("1.25")
    assert facts.price["cache_write_long"] == 5
    assert facts.above == {272000: {"input": 4}}
    assert facts.input == {"text", "image", "pdf"}


def test_a_tier_counts_only_if_one_factor_holds_for_every_class() -> None:
    base = {"input_cost_per_token": Decimal("2E-6"), "output_cost_per_token": Decimal("1E-5")}
    even = {
        "input_cost_per_token_flex": Decimal("1E-6"),
        "output_cost_per_token_flex": Decimal("5E-6"),
    }
    odd = {
        "input_cost_per_token_priority": Decimal("4E-6"),
        "output_cost_per_token_priority": Decimal("3E-5"),
    }
    assert litellm_facts(base | even | odd).tiers == {"flex": Decimal("0.5")}
    half_told = {"input_cost_per_token_flex": Decimal("1E-6")}
    assert litellm_facts(base | half_told).tiers == {}


def test_factors_of_anthropics_platform_are_tiers_and_the_dearest_search_counts() -> None:
    facts = litellm_facts(
        {
            "input_cost_per_token": Decimal("2E-6"),
            "provider_specific_entry": {"us": Decimal("1.1"), "fast": 2, "odd": 7},
            "search_context_cost_per_query": {
                "search_context_size_low": Decimal("0.025"),
                "search_context_size_high": Decimal("0.03"),
            },
        }
    )
    assert facts.tiers == {"fast": 2, "us": Decimal("1.1")}
    assert facts.web_search == Decimal("0.03")
    assert litellm_facts({}).web_search is None


def test_off_peak_windows_become_stretches_of_the_week() -> None:
    facts = litellm_facts(
        {
            "input_cost_per_token": Decimal("3E-7"),
            "off_peak_pricing": {
                "input_cost_per_token": Decimal("1.5E-7"),
                "windows": [
                    {"hours_utc": ["04:00-06:00", "10:00-00:00"], "weekdays": [1, 2, 3, 4, 5]},
                    {"hours_utc": "00:00-00:00", "weekdays": [6, 7]},
                ],
            },
        }
    )
    ((stretches, amounts),) = facts.hours
    assert stretches == ["Mon-Fri 04:00-06:00", "Mon-Fri 10:00-24:00", "Sat-Sun 00:00-24:00"]
    assert amounts == {"input": Decimal("0.15")}


def test_genai_steps_are_gathered_by_threshold_and_hourly_prices_left_out() -> None:
    prices = {"input_mtok": ["2", [[200000, "4"]]], "output_mtok": ["6", [[200000, "12"]]]}
    facts = genai_facts(prices, by_hour=False)
    assert facts.price == {"input": 2, "output": 6}
    assert facts.above == {200000: {"input": 4, "output": 12}}
    assert genai_facts(prices, by_hour=True).price == {}


def test_differences_are_told_by_class_and_a_missing_class_is_zero() -> None:
    one, other = (
        {"input": Decimal(3), "output": Decimal(1)},
        {"input": Decimal("2.50"), "cached_input": Decimal("0.1")},
    )
    assert differing(one, other, ("input", "cached_input")) == [
        "input 3 / 2.5",
        "cached_input 0 / 0.1",
    ]
    assert differing(one, one, ("input", "output")) == []


def test_amounts_are_written_plainly() -> None:
    assert [text(Decimal(a)) for a in ("4.00", "1E+1", "0.0060", "1E-9", "0")] == [
        "4",
        "10",
        "0.006",
        "0.000000001",
        "0",
    ]

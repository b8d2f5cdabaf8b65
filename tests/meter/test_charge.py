from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zurelay.catalogue.model import (
    FREE,
    INPUT_CLASSES,
    OUTPUT_CLASSES,
    Call,
    Price,
    TokenClass,
)
from zurelay.catalogue.money import NO_MARKUP, parse_factor
from zurelay.catalogue.price import parse_price
from zurelay.chat.usage import STANDARD, Usage
from zurelay.meter.charge import Charge, at_size, ceiling, charge

CLASSES: tuple[TokenClass, ...] = INPUT_CLASSES + OUTPUT_CLASSES
TOKENS = st.integers(0, 10**7)
RATES = st.integers(0, 10**15)
TIERS = ("flex", "priority", "ultrafast")
SEARCHES = st.integers(0, 20)
MARKUPS = st.one_of(st.just(NO_MARKUP), st.integers(0, 3 * NO_MARKUP))
USAGES = st.builds(
    Usage,
    **dict.fromkeys(CLASSES, TOKENS),
    web_searches=SEARCHES,
    tier=st.sampled_from((None, STANDARD, *TIERS)),
)
# 0.5, 0.05, 0.625 and 2.5 beyond 100,000 tokens of prompt.
HAIKU_5_5 = parse_price(
    {
        "input": "0.1",
        "cached_input": "0.01",
        "cache_write": "0.125",
        "output": "0.5",
        "above": [
            {
                "prompt_tokens": 100_000,
                "input": "0.5",
                "cached_input": "0.05",
                "cache_write": "0.625",
                "output": "2.5",
            }
        ],
    }
)
GPT_6 = parse_price(
    {
        "input": "2",
        "cached_input": "0.2",
        "cache_write": "2.5",
        "output": "10",
        "above": [
            {
                "prompt_tokens": 272_000,
                "input": "4",
                "cached_input": "0.4",
                "cache_write": "5",
                "output": "15",
            }
        ],
    }
)


@st.composite
def prices(draw: st.DrawFn) -> Price:
    """At least input and output, as the catalogue demands; up to two size steps, some tiers."""

    def classes() -> dict[TokenClass, int]:
        asked = [n for n in CLASSES if n in ("input", "output") or draw(st.booleans())]
        return {name: draw(RATES) for name in asked}

    def price() -> Price:
        sizes = draw(st.lists(st.integers(1, 10**7), max_size=2, unique=True).map(sorted))
        return Price(classes(), tuple((size, Price(classes())) for size in sizes))

    tiers = {name: price() for name in draw(st.sets(st.sampled_from(TIERS)))}
    fees = st.integers(0, 10**8)
    calls: dict[Call, int] = {"web_search": draw(fees)} if draw(st.booleans()) else {}
    return replace(price(), per_request=draw(fees), per_call=calls, tiers=tiers)


PRICES = prices()


def sums(charged: Charge) -> tuple[int, tuple[str, ...], int]:
    return charged.cost, charged.unpriced, charged.upstream


def standing(price: Price, usage: Usage) -> Price:
    """The price whose classes hold for that usage."""
    return at_size(price.tiers.get(usage.tier or "", price), usage.prompt)


def test_a_cache_write_is_charged_once() -> None:
    price = parse_price(
        {"input": "3", "output": "15", "cache_write": "3.75", "cached_input": "0.30"}
    )
    usage = Usage(input=3, cache_write=12304, output=550)
    assert sums(charge(price, usage)) == (54_399_000, (), 54_399_000)
    assert (usage.prompt, usage.total) == (12307, 12857)


def test_the_smallest_requests_cost_what_they_cost() -> None:
    cheap = parse_price({"input": "0.05", "output": "0.40"})
    assert charge(cheap, Usage(input=1, output=1)).cost == 450
    assert charge(parse_price({"input": "0.1", "output": "0"}), Usage(input=3)).cost == 300


def test_twelve_decimals_are_summed_before_they_are_rounded() -> None:
    price = parse_price({"input": "0.076234102728", "output": "0"})
    assert charge(price, Usage(input=10_000)).cost == 762_341  # 0.00076234102728 USD
    assert charge(price, Usage(input=1)).cost == 76


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (100_000, 100_000 * 100 + 1000 * 500),
        (100_001, 100_001 * 500 + 1000 * 2500),
    ],
)
def test_haiku_5_5_costs_five_times_as_much_once_the_prompt_exceeds_100k(
    prompt: int, expected: int
) -> None:
    assert charge(HAIKU_5_5, Usage(input=prompt, output=1000)).cost == expected


@pytest.mark.parametrize(
    ("prompt", "rates"), [(272_000, (200, 2000, 10_000)), (272_001, (400, 4000, 15_000))]
)
def test_gpt_6_counts_cached_tokens_towards_272k_and_then_charges_every_token_more(
    prompt: int, rates: tuple[int, int, int]
) -> None:
    usage = Usage(input=prompt - 200_000, cached_input=200_000, output=100)
    cached, fresh, output = rates
    expected = 200_000 * cached + (prompt - 200_000) * fresh + 100 * output
    assert charge(GPT_6, usage).cost == expected


def test_the_highest_step_that_is_passed_counts() -> None:
    low, high = Price({"input": 2}), Price({"input": 3})
    price = Price({"input": 1}, above=((10, low), (20, high)))
    assert [at_size(price, size) for size in (10, 11, 20, 21)] == [price, low, low, high]


def test_a_class_without_a_price_costs_the_dearest_of_its_side_and_is_named() -> None:
    price = Price({"input": 5 * 10**9, "cache_write": 7 * 10**9, "output": 90 * 10**9})
    usage = Usage(input=1, cached_input=10, audio_output=2)
    assert sums(charge(price, usage)) == (255, ("cached_input", "audio_output"), 255)


def test_an_explicit_zero_is_a_price() -> None:
    price = Price({"input": 10**9, "cached_input": 0, "output": 0})
    assert sums(charge(price, Usage(cached_input=1000, output=5))) == (0, (), 0)
    assert sums(charge(FREE, Usage(input=1, cached_input=1, audio_output=1))) == (0, (), 0)


def test_the_fee_for_a_request_is_added_once() -> None:
    price = replace(GPT_6, per_request=10_000_000)
    assert charge(price, Usage(input=300_000)).cost == 10_000_000 + 300_000 * 4000


@pytest.mark.parametrize(
    ("atto", "nano"),
    [(499_999_999, 0), (500_000_000, 0), (500_000_001, 1), (1_500_000_000, 2), (2_500_000_000, 2)],
)
def test_halves_are_rounded_to_even(atto: int, nano: int) -> None:
    assert charge(Price({"input": atto, "output": 0}), Usage(input=1)).cost == nano


@given(prices(), USAGES, MARKUPS)
def test_the_charge_is_the_marked_up_sum_over_the_leaf_classes_rounded_once(
    price: Price, usage: Usage, markup: int
) -> None:
    rates = standing(price, usage).classes
    with localcontext(prec=80):
        total = Decimal(price.per_request)
        total += usage.web_searches * price.per_call.get("web_search", 0)
        for side in (INPUT_CLASSES, OUTPUT_CLASSES):
            dearest = max(rates[name] for name in side if name in rates)
            for name in side:
                rate = Decimal(rates.get(name, dearest)) / 10**9
                total += getattr(usage, name) * rate
        upstream = int(total.quantize(Decimal(1), ROUND_HALF_EVEN))
        total = total * markup / NO_MARKUP
        cost = int(total.quantize(Decimal(1), ROUND_HALF_EVEN))
    charged = charge(price, usage, markup)
    assert (charged.cost, charged.upstream) == (cost, upstream)
    assert charged.cost >= 0


@given(prices(), USAGES, st.sampled_from((*CLASSES, "web_searches")), st.integers(1, 1000), MARKUPS)
def test_more_never_costs_less_inside_one_size_step(
    price: Price, usage: Usage, name: str, more: int, markup: int
) -> None:
    larger = msgspec.structs.replace(usage, **{name: getattr(usage, name) + more})
    assume(standing(price, usage) is standing(price, larger))
    assert charge(price, larger, markup).cost >= charge(price, usage, markup).cost


@given(prices(), USAGES, st.sampled_from(CLASSES), st.integers(1, 10**6))
def test_where_long_prompts_are_dearer_more_tokens_never_cost_less(
    price: Price, usage: Usage, name: TokenClass, more: int
) -> None:
    dearer = {
        n: max(r, *(s.classes.get(n, 0) for _, s in price.above), 0)
        for n, r in price.classes.items()
    }
    rising = replace(price, tiers={}, above=tuple((size, Price(dearer)) for size, _ in price.above))
    larger = msgspec.structs.replace(usage, **{name: getattr(usage, name) + more})
    assert charge(rising, larger).cost >= charge(rising, usage).cost


@given(prices(), USAGES, MARKUPS, st.integers(1, 4), st.data())
def test_no_request_within_its_estimate_and_limit_costs_more_than_the_ceiling(
    price: Price, usage: Usage, markup: int, n: int, data: st.DataObject
) -> None:
    """Whatever the mix of classes, and whether the tier asked for is the one that is used."""
    slack = data.draw(st.integers(0, 100))
    asked = usage.tier or ""
    if data.draw(st.booleans()):
        usage = msgspec.structs.replace(usage, tier=STANDARD)
    most = ceiling(
        price,
        usage.prompt + slack,
        -(-usage.completion // n) + slack,
        n,
        tier=asked,
        web_searches=usage.web_searches,
        markup=markup,
    )
    assert charge(price, usage, markup).cost <= most


def test_markup_is_multiplied_into_the_exact_sum_and_the_upstreams_own_cost_is_kept() -> None:
    price = Price({"input": 333_333_333, "output": 0})  # a third of a nano-dollar
    charged = charge(price, Usage(input=3), parse_factor("1.5"))
    assert (charged.cost, charged.upstream) == (1, 1)  # 0.9999 * 1.5 = 1.49999..., not 1 * 1.5
    assert charge(price, Usage(input=300), parse_factor("1.25")).cost == 125
    assert sums(charge(GPT_6, Usage(input=1000), parse_factor("0"))) == (0, (), 2_000_000)


def test_the_tier_that_was_used_is_charged_and_the_fees_stay_the_same() -> None:
    price = replace(
        parse_price({"input": "2", "output": "10", "tiers": {"flex": "0.5", "priority": "2"}}),
        per_request=7,
    )
    usage = Usage(input=1000, output=100)
    costs = [
        charge(price, msgspec.structs.replace(usage, tier=tier)).cost
        for tier in (None, "standard", "flex", "priority")
    ]
    assert costs == [3_000_007, 3_000_007, 1_500_007, 6_000_007]


def test_a_tier_without_a_price_costs_the_standard_one_and_is_named() -> None:
    assert sums(charge(GPT_6, Usage(input=10, tier="scale"))) == (20_000, ("service_tier",), 20_000)
    assert charge(FREE, Usage(input=10, tier="scale", web_searches=1)).unpriced == ()


def test_searches_cost_their_fee_each_and_are_named_where_there_is_none() -> None:
    price = parse_price({"input": "3", "output": "15", "per_call": {"web_search": "0.01"}})
    assert sums(charge(price, Usage(web_searches=3))) == (30_000_000, (), 30_000_000)
    assert ceiling(price, 0, 0, web_searches=5, markup=2 * NO_MARKUP) == 100_000_000
    assert sums(charge(GPT_6, Usage(web_searches=3))) == (0, ("web_search",), 0)


def test_a_quarter_more_than_the_estimate_decides_the_ceilings_size_step() -> None:
    assert ceiling(HAIKU_5_5, 80_000, 0) == 80_000 * 125
    assert ceiling(HAIKU_5_5, 80_001, 0) == 80_001 * 625


def test_the_ceiling_counts_every_choice_and_rounds_up() -> None:
    assert ceiling(GPT_6, 0, 100, n=3) == 300 * 10_000
    assert ceiling(Price({"input": 1, "output": 1}, per_request=7), 1, 0) == 8

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zurelay.catalogue.model import FREE, Price, TokenClass
from zurelay.catalogue.price import parse_price
from zurelay.chat.usage import Usage
from zurelay.meter.charge import (
    INPUT_CLASSES,
    OUTPUT_CLASSES,
    Charge,
    at_size,
    ceiling,
    charge,
)

CLASSES: tuple[TokenClass, ...] = INPUT_CLASSES + OUTPUT_CLASSES
TOKENS = st.integers(0, 10**7)
RATES = st.integers(0, 10**15)
USAGES = st.builds(
    Usage,
    input=TOKENS,
    cached_input=TOKENS,
    cache_write=TOKENS,
    cache_write_long=TOKENS,
    audio_input=TOKENS,
    output=TOKENS,
    audio_output=TOKENS,
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
    """At least input and output, as the catalogue demands; up to two dearer size steps."""

    def classes() -> dict[TokenClass, int]:
        asked = [n for n in CLASSES if n in ("input", "output") or draw(st.booleans())]
        return {name: draw(RATES) for name in asked}

    sizes = draw(st.lists(st.integers(1, 10**7), max_size=2, unique=True).map(sorted))
    steps = tuple((size, Price(classes())) for size in sizes)
    return Price(classes(), steps, draw(st.integers(0, 10**6)))


def test_a_cache_write_is_charged_once() -> None:
    price = parse_price(
        {"input": "3", "output": "15", "cache_write": "3.75", "cached_input": "0.30"}
    )
    usage = Usage(input=3, cache_write=12304, output=550)
    assert charge(price, usage) == Charge(54_399_000)
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
    assert charge(price, usage) == Charge(5 + 70 + 180, ("cached_input", "audio_output"))


def test_an_explicit_zero_is_a_price() -> None:
    price = Price({"input": 10**9, "cached_input": 0, "output": 0})
    assert charge(price, Usage(cached_input=1000, output=5)) == Charge(0)
    assert charge(FREE, Usage(input=1, cached_input=1, audio_output=1)) == Charge(0)


def test_the_fee_for_a_request_is_added_once() -> None:
    price = replace(GPT_6, per_request=10_000_000)
    assert charge(price, Usage(input=300_000)).cost == 10_000_000 + 300_000 * 4000


@pytest.mark.parametrize(
    ("atto", "nano"),
    [(499_999_999, 0), (500_000_000, 0), (500_000_001, 1), (1_500_000_000, 2), (2_500_000_000, 2)],
)
def test_halves_are_rounded_to_even(atto: int, nano: int) -> None:
    assert charge(Price({"input": atto, "output": 0}), Usage(input=1)).cost == nano


@given(prices(), USAGES)
def test_the_charge_is_the_rounded_sum_over_the_leaf_classes(price: Price, usage: Usage) -> None:
    rates = at_size(price, usage.prompt).classes
    with localcontext(prec=60):
        total = Decimal(price.per_request)
        for side in (INPUT_CLASSES, OUTPUT_CLASSES):
            dearest = max(rates[name] for name in side if name in rates)
            for name in side:
                rate = Decimal(rates.get(name, dearest)) / 10**9
                total += getattr(usage, name) * rate
        expected = total.quantize(Decimal(1), ROUND_HALF_EVEN)
    assert charge(price, usage).cost == expected >= 0


@given(prices(), USAGES, st.sampled_from(CLASSES), st.integers(1, 1000))
def test_more_tokens_never_cost_less_inside_one_size_step(
    price: Price, usage: Usage, name: TokenClass, more: int
) -> None:
    larger = msgspec.structs.replace(usage, **{name: getattr(usage, name) + more})
    assume(at_size(price, usage.prompt) is at_size(price, larger.prompt))
    assert charge(price, larger).cost >= charge(price, usage).cost


@given(prices(), USAGES, st.integers(1, 4), st.data())
def test_no_request_within_its_estimate_costs_more_than_the_ceiling(
    price: Price, usage: Usage, n: int, data: st.DataObject
) -> None:
    slack = data.draw(st.integers(0, 100))
    limit = -(-usage.completion // n) + slack
    assert charge(price, usage).cost <= ceiling(price, usage.prompt + slack, limit, n)


def test_a_quarter_more_than_the_estimate_decides_the_ceilings_size_step() -> None:
    assert ceiling(HAIKU_5_5, 80_000, 0) == 80_000 * 125
    assert ceiling(HAIKU_5_5, 80_001, 0) == 80_001 * 625


def test_the_ceiling_counts_every_choice_and_rounds_up() -> None:
    assert ceiling(GPT_6, 0, 100, n=3) == 300 * 10_000
    assert ceiling(Price({"input": 1, "output": 1}, per_request=7), 1, 0) == 8

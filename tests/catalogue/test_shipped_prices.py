"""The shipped prices charge what the vendors' price pages say, to the last digit."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from zurelay.catalogue.load import standard
from zurelay.catalogue.model import INPUT_CLASSES, Price, TokenClass
from zurelay.catalogue.price import per_million, price_at
from zurelay.chat.usage import Usage
from zurelay.meter.charge import charge

USD = 10**9
A_MILLION = 10**6


def price(model: str, vendor: str, at: str = "2026-11-29T12:00:00") -> Price:
    entry = standard().entry(vendor, model)
    assert entry is not None
    found = price_at(entry, datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp())
    assert found is not None
    return found


def cost(found: Price, name: TokenClass, tokens: int, tier: str | None = None) -> int:
    """Nano-dollars of so many tokens of one class."""
    return charge(found, replace(Usage(tier=tier), **{name: tokens})).cost


OPENAI_LONG = [
    "gpt-5.4",
    "gpt-5.5",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-6-sol",
    "gpt-6-astra",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6.2-sol",
]


@pytest.mark.parametrize("model", OPENAI_LONG)
def test_openai_above_272k_costs_twice_the_input_and_half_as_much_again_for_output(
    model: str,
) -> None:
    found = price(model, "openai")
    for name in INPUT_CLASSES[:4]:
        below, above = cost(found, name, 272_000), cost(found, name, 272_001)
        assert above * 272_000 == 2 * below * 272_001, name
    output = found.classes["output"]
    (step,) = [over for size, over in found.above if size == 272_000]
    assert step.classes["output"] * 2 == output * 3


def test_haiku_5_5_above_100k_costs_five_times_as_much_in_every_class() -> None:
    found = price("claude-haiku-5-5", "anthropic")
    assert cost(found, "input", 100_000) == 10_000_000
    assert cost(found, "input", 100_001) == 50_000_500
    (step,) = [over for size, over in found.above if size == 100_000]
    amounts = {name: per_million(each) for name, each in step.classes.items()}
    assert (amounts["input"], amounts["cached_input"]) == ("0.50", "0.05")
    assert (amounts["cache_write"], amounts["output"]) == ("0.625", "2.50")


@pytest.mark.parametrize(
    ("model", "vendor", "threshold", "factor"),
    [
        ("gemini-2.5-pro", "google", 200_000, 2),
        ("gemini-3.1-pro-preview", "google", 200_000, 2),
        ("grok-4.7", "xai", 200_000, 2),
        ("grok-4.5", "xai", 200_000, 2),
        ("MiniMax-M3", "minimax", 512_000, 2),
        ("muse-ember-1.0", "meta", 200_000, 3),
    ],
)
def test_the_other_cliffs_count_the_whole_prompt(
    model: str, vendor: str, threshold: int, factor: int
) -> None:
    found = price(model, vendor)
    below = charge(found, Usage(cached_input=threshold - 10, input=10))
    above = charge(found, Usage(cached_input=threshold - 10, input=11))
    one = found.classes["input"] // 10**9
    assert above.cost == factor * (below.cost + one)


@pytest.mark.parametrize(
    ("model", "short", "long", "read"),
    [
        ("claude-opus-5", "6.25", "10.00", "0.50"),
        ("claude-sonnet-4-6", "3.75", "6.00", "0.30"),
        ("claude-opus-5-5", "5.00", "8.00", "0.20"),
        ("claude-sonnet-5-5", "2.50", "4.00", "0.10"),
        ("claude-fable-5-1", "12.50", "20.00", "0.25"),
        ("claude-fable-5-2", "10.00", "16.00", "0.20"),
    ],
)
def test_anthropics_cache_costs_a_quarter_more_for_minutes_and_twice_for_an_hour(
    model: str, short: str, long: str, read: str
) -> None:
    classes = price(model, "anthropic").classes
    assert classes["cache_write"] * 4 == classes["input"] * 5
    assert classes["cache_write_long"] == classes["input"] * 2
    assert per_million(classes["cache_write"]) == short
    assert per_million(classes["cache_write_long"]) == long
    assert per_million(classes["cached_input"]) == read


@pytest.mark.parametrize(
    ("model", "part"),
    [("gpt-5.6-sol", 10), ("gpt-6-sol", 10), ("gpt-6.1-sol", 20), ("gpt-6.2-sol", 20)],
)
def test_openais_cache_costs_a_quarter_more_for_30_minutes_and_two_and_a_half_for_12_hours(
    model: str, part: int
) -> None:
    classes = price(model, "openai").classes
    assert classes["cache_write"] * 4 == classes["input"] * 5
    assert classes["cache_write_long"] * 2 == classes["input"] * 5
    assert classes["cached_input"] * part == classes["input"]


def test_kimi_k3_charges_cache_writes_as_input() -> None:
    classes = price("kimi-k3", "moonshot").classes
    assert per_million(classes["cache_write"]) == per_million(classes["input"]) == "3.00"


@pytest.mark.parametrize(
    ("model", "vendor", "tier", "percent"),
    [
        ("gpt-6.1-sol", "openai", "flex", 50),
        ("gpt-6.1-sol", "openai", "priority", 200),
        ("gpt-6.1-sol", "openai", "ultrafast", 600),
        ("claude-opus-5-5", "anthropic", "fast", 200),
        ("claude-opus-5-5", "anthropic", "us", 110),
    ],
)
def test_tiers_multiply_every_class(model: str, vendor: str, tier: str, percent: int) -> None:
    found = price(model, vendor)
    for name in found.classes:
        plain, dear = cost(found, name, A_MILLION), cost(found, name, A_MILLION, tier)
        assert dear * 100 == plain * percent, name


@pytest.mark.parametrize(
    ("at", "input_", "output"),
    [
        ("2026-11-30T00:59:59", "0.15", "0.60"),  # a Monday
        ("2026-11-30T01:00:00", "0.30", "1.20"),
        ("2026-11-30T03:59:59", "0.30", "1.20"),
        ("2026-11-30T04:00:00", "0.15", "0.60"),
        ("2026-11-30T06:00:00", "0.30", "1.20"),
        ("2026-11-30T09:59:59", "0.30", "1.20"),
        ("2026-11-30T10:00:00", "0.15", "0.60"),
        ("2026-11-28T02:00:00", "0.15", "0.60"),  # a Saturday
    ],
)
def test_deepseek_costs_half_outside_its_peak_hours(at: str, input_: str, output: str) -> None:
    classes = price("deepseek-flash", "deepseek", at).classes
    assert (per_million(classes["input"]), per_million(classes["output"])) == (input_, output)


@pytest.mark.parametrize(
    ("model", "vendor", "a_thousand"),
    [
        ("gpt-6-sol", "openai", 10),
        ("claude-opus-5-5", "anthropic", 10),
        ("claude-fable-5-2", "anthropic", 10),
        ("gemini-3.1-pro-preview", "google", 14),
        ("gemini-3.8-flash", "google", 14),
    ],
)
def test_a_thousand_searches_cost(model: str, vendor: str, a_thousand: int) -> None:
    assert charge(price(model, vendor), Usage(web_searches=1000)).cost == a_thousand * USD


def test_a_picture_costs_what_text_costs_at_google() -> None:
    found = price("gemini-3-flash-preview", "google")
    seen, read = charge(found, Usage(image_input=A_MILLION)), charge(found, Usage(input=A_MILLION))
    assert (seen.cost, seen.unpriced) == (read.cost, ())

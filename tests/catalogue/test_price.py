from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.catalogue.model import FREE, Model, Price
from zurelay.catalogue.price import (
    CatalogueError,
    laid_over,
    parse_price,
    per_million,
    per_token,
    price_at,
)

PLAIN = {"input": "4.00", "cached_input": "0.20", "output": "20.00"}


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def model(price: Price | None, later: tuple[Price, ...] = ()) -> Model:
    return Model(id="m", name="M", vendor="v", upstream="m", price=price, later=later)


@pytest.mark.parametrize(
    ("written", "units"),
    [
        ("4.00", 4 * 10**12),
        ("4", 4 * 10**12),
        ("0.006", 6 * 10**9),
        ("0", 0),
        ("0.000000000001", 1),
        (3, 3 * 10**12),
    ],
)
def test_a_price_per_million_becomes_an_exact_integer_per_token(
    written: object, units: int
) -> None:
    assert per_token(written) == units


@pytest.mark.parametrize(
    "wrong", [4.0, "-1", "1e3", "1,5", "", " 1", "0.0000000000001", True, None, "\u0661", "1" * 10]
)
def test_anything_but_a_plain_decimal_string_is_refused(wrong: object) -> None:
    with pytest.raises(CatalogueError, match=r"price\.input: write a decimal string"):
        parse_price({"input": wrong, "output": "1"})


@given(st.integers(min_value=0, max_value=10**21 - 1))
def test_writing_a_price_loses_nothing(units: int) -> None:
    written = per_million(units)
    assert per_token(written) == units
    assert len(written.partition(".")[2]) >= 2


@given(st.decimals(min_value=0, max_value=10**6, places=9))
def test_the_integer_is_the_decimal_times_the_unit(amount: Decimal) -> None:
    assert per_token(f"{amount:f}") == amount * 10**12


def test_free_costs_nothing() -> None:
    assert parse_price("free") is FREE


def test_a_price_without_output_is_refused_by_path() -> None:
    with pytest.raises(CatalogueError) as told:
        parse_price({"input": "1"}, "models.x.price")
    assert told.value.path == "models.x.price.output"


def test_an_unknown_class_names_the_nearest_known_one() -> None:
    with pytest.raises(CatalogueError, match='Did you mean "cached_input"') as told:
        parse_price({**PLAIN, "cache_input": "1"})
    assert told.value.path == "price.cache_input"


def test_steps_apply_in_rising_order_only() -> None:
    step = {"input": "8", "output": "40"}
    price = parse_price({**PLAIN, "above": [{"prompt_tokens": 100, **step}]})
    assert price.above == ((100, Price({"input": 8 * 10**12, "output": 40 * 10**12})),)
    falling = [{"prompt_tokens": 200, **step}, {"prompt_tokens": 100, **step}]
    with pytest.raises(CatalogueError, match="rising order"):
        parse_price({**PLAIN, "above": falling})


def test_a_service_tier_multiplies_every_class_and_every_step() -> None:
    price = parse_price(
        {
            **PLAIN,
            "above": [{"prompt_tokens": 100, "input": "8", "output": "40"}],
            "tiers": {"flex": "0.5", "priority": "2"},
        }
    )
    assert price.tiers["flex"].classes == {
        "input": 2 * 10**12,
        "cached_input": 10**11,
        "output": 10 * 10**12,
    }
    assert price.tiers["priority"].above[0][1].classes["output"] == 80 * 10**12


def test_a_tier_that_cannot_be_exact_is_refused() -> None:
    with pytest.raises(CatalogueError, match="not exact"):
        parse_price({"input": "0.000000000001", "output": "1", "tiers": {"flex": "0.5"}})


def test_a_fee_per_request_is_in_nano_dollars() -> None:
    assert parse_price({**PLAIN, "per_request": "0.01"}).per_request == 10_000_000
    with pytest.raises(CatalogueError, match="nine decimal places"):
        parse_price({**PLAIN, "per_request": "0.0000000001"})


HOURLY = parse_price(
    {
        "input": "0.3",
        "output": "1.2",
        "hours": [
            {
                "utc": ["Mon-Fri 00:00-01:00", "Mon-Fri 10:00-24:00", "Sat-Sun 00:00-24:00"],
                "input": "0.15",
                "output": "0.6",
            }
        ],
    }
)


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        ("2026-11-30T00:59:59", "0.15"),  # a Monday
        ("2026-11-30T01:00:00", "0.30"),
        ("2026-11-30T09:59:59", "0.30"),
        ("2026-11-30T10:00:00", "0.15"),
        ("2026-11-30T23:59:59", "0.15"),
        ("2026-11-28T05:00:00", "0.15"),  # a Saturday
        ("2026-11-29T05:00:00", "0.15"),
        ("1970-01-02T05:00:00", "0.30"),  # a Friday
    ],
)
def test_the_price_of_the_hour_is_in_force_to_the_second(moment: str, written: str) -> None:
    price = price_at(model(HOURLY), at(moment))
    assert price is not None
    assert per_million(price.classes["input"]) == written


def test_a_later_price_begins_at_midnight_utc_of_its_day() -> None:
    first = parse_price(PLAIN)
    second = replace(parse_price({"input": "5", "output": "25"}), since="2026-12-01")
    third = replace(parse_price({"input": "6", "output": "30"}), since="2027-01-01")
    dated = model(first, (second, third))
    assert price_at(dated, at("2026-11-30T23:59:59")) == first
    assert price_at(dated, at("2026-12-01")) == second
    assert price_at(dated, at("2027-06-01")) == third


def test_an_unknown_price_stays_unknown() -> None:
    assert price_at(model(None), 0) is None


@pytest.mark.parametrize(
    "wrong", ["Mon-Fri 4-5", "Fri-Mon 00:00-01:00", "Mon 05:00-04:00", "Xyz 00:00-01:00", 5]
)
def test_hours_that_make_no_stretch_are_refused(wrong: object) -> None:
    with pytest.raises(CatalogueError):
        parse_price({**PLAIN, "hours": [{"utc": [wrong], "input": "1", "output": "1"}]})


def test_fees_and_tiers_hold_in_all_hours() -> None:
    price = parse_price(
        {
            **PLAIN,
            "per_request": "0.01",
            "per_call": {"web_search": "0.014"},
            "tiers": {"flex": "0.5"},
            "hours": [
                {
                    "utc": ["Sat-Sun 00:00-24:00"],
                    "input": "1",
                    "output": "2",
                    "above": [{"prompt_tokens": 9, "input": "3", "output": "4"}],
                }
            ],
        }
    )
    weekend = price_at(model(price), at("2026-11-28"))
    assert weekend is not None
    assert weekend.per_request == price.per_request == 10_000_000
    assert weekend.per_call == {"web_search": 14_000_000}
    assert weekend.tiers["flex"].classes["output"] == 10**12
    assert weekend.tiers["flex"].above[0][1].classes["input"] == 1_500_000_000_000


def test_an_unknown_tool_that_costs_is_refused_by_path() -> None:
    with pytest.raises(CatalogueError, match=r"price\.per_call\.web_serch: no such key"):
        parse_price({**PLAIN, "per_call": {"web_serch": "1"}})


def usd(price: Price | None) -> str:
    return "" if price is None else per_million(price.classes["input"])


def priced(amount: str, since: str = "") -> Price:
    return replace(parse_price({"input": amount, "output": "1"}), since=since)


def test_prices_set_while_it_runs_stand_from_their_day_on_over_the_catalogues() -> None:
    dated = model(priced("1"), (priced("2", "2026-10-01"), priced("3", "2026-12-01")))
    over = laid_over(dated, {"2026-11-01": priced("7"), "2027-01-01": priced("8")})
    days = ("2026-09-30", "2026-10-31", "2026-11-01", "2026-12-31", "2027-01-01")
    assert [usd(price_at(over, at(day))) for day in days] == [
        "1.00",
        "2.00",
        "7.00",
        "7.00",
        "8.00",
    ]
    always = laid_over(dated, {"": priced("5"), "2027-01-01": priced("8")})
    assert [usd(price_at(always, at(day))) for day in days] == ["5.00"] * 4 + ["8.00"]
    assert laid_over(dated, {}) is dated


def test_a_model_without_a_price_has_one_from_the_day_it_is_set() -> None:
    over = laid_over(model(None), {"2026-11-01": priced("7")})
    assert [usd(price_at(over, at(day))) for day in ("2026-10-31", "2026-11-01")] == ["", "7.00"]
